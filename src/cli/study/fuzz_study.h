#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::cli {

// The options of `telltale study fuzz`.
struct FuzzStudyOptions {
  std::vector<std::string> folders;   // of fuzzers, or single inputs
  std::string study;                  // folder of the study to write or to add to
  std::vector<std::string> command;   // @@ is the input; without it, standard input
  std::vector<std::string> programs;  // programs with the sites, if the command's has none
  uint64_t mutations = 0;             // runs on changed copies of failing inputs, per cluster
  bool minimize = false;
  uint64_t minimize_tries = 2000;  // per cluster
  uint64_t parallel = 1;
  uint64_t sparsity = 1;
  std::optional<uint64_t> seed;  // of sampling and mutations; none: a random one
  std::string timeout = "10s";
  std::string label_command;  // for sh; empty: by signal and timeout
  uint64_t limit = 20;        // clusters that are isolated and minimized; 0: all
  bool quiet = false;
};

// Runs each input of the fuzzers once, and changed copies of those that fail; groups the failures
// by stack; prints a table of the clusters with the predicate that predicts each best. Returns an
// exit status: kDone also if nothing failed.
int record_fuzz_study(const FuzzStudyOptions& options);

}  // namespace telltale::cli
