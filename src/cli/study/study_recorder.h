#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::cli {

// The options of `telltale run --study`.
struct StudyOptions {
  std::string folder;  // empty: the runs are only collected
  uint64_t times = 1;
  uint64_t parallel = 1;
  // None: 1 for a study; otherwise what the server asked for, or 100.
  std::optional<uint64_t> sparsity;
  std::string rates;                  // SAMPLER_RATES; empty: as the environment has it
  std::optional<uint64_t> seed;       // of the first run; none: a random one
  std::string timeout;                // duration; empty: none
  std::string label_command;          // for sh; empty: none
  std::string reference;              // a program, or a file of expected output; empty: none
  std::vector<std::string> programs;  // programs with the sites, if the command's has none
  std::string version;                // of the program, for people
  bool quiet = false;
  std::vector<std::string> command;
  // --collect: reports go to a spool, and from there to this server.
  std::string collect_url;  // empty: they do not
  std::string spool;        // empty: the usual one
  std::string token_file;
  bool collect_paths = false;  // and the runs' path files
  bool ask = false;            // the user, if nothing says whether they agree
};

// Runs the command this often, adds the runs to the study, and sends reports of them, after the
// last one, from a process that nobody waits for. Returns an exit status: for one run the
// program's; for several kDone, 130 if a signal ended the work, or 141 if nobody reads our output.
int record_study(StudyOptions options);

}  // namespace telltale::cli
