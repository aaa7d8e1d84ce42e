#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::cli {

// The options of `telltale run --study`.
struct StudyOptions {
  std::string folder;
  uint64_t times = 1;
  uint64_t parallel = 1;
  uint64_t sparsity = 1;
  std::optional<uint64_t> seed;       // of the first run; none: a random one
  std::string timeout;                // duration; empty: none
  std::string label_command;          // for sh; empty: none
  std::string reference;              // a program, or a file of expected output; empty: none
  std::vector<std::string> programs;  // programs with the sites, if the command's has none
  bool quiet = false;
  std::vector<std::string> command;
};

// Runs the command this often and adds the runs to the study. Returns an exit status: for one run
// the program's; for several kDone, or 130 if a signal ended the work.
int record_study(const StudyOptions& options);

}  // namespace telltale::cli
