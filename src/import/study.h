#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// A study: a folder with the reports and outcomes of many runs (docs/formats/study.md).

enum class RunLabel : uint8_t {
  passed,
  failed,
  skipped,  // neither: the run says nothing about the failure
};
std::string_view to_string(RunLabel label);
std::optional<RunLabel> parse_run_label(std::string_view text);

// One run: a row of runs.tsv.
struct StudyRun {
  uint64_t number = 0;  // unique in the study, from 1
  RunLabel label = RunLabel::passed;
  std::string rule;           // what decided the label: status, signal, timeout, command ...
  std::optional<int> status;  // exit status; none: a signal ended the run
  std::string signal;         // "SIGSEGV"; empty: none did
  double seconds = 0;         // elapsed
  std::string started;        // UTC, ISO 8601
  std::string build;          // build-id of the program, or its substitute
  uint64_t sparsity = 0;      // SAMPLER_SPARSITY
  uint64_t seed = 0;          // SAMPLER_SEED
  std::string command;        // in a shell's words; without tabs and line feeds
  std::string version;        // of the program, for people; empty: nobody said it

  bool operator==(const StudyRun&) const = default;
};

// The file runs.tsv: two lines of head, and a line a run. Rows are only appended.
std::string study_runs_head();
std::string to_line(const StudyRun& run);  // with its line feed
// All rows, ascending by number; of several with one number the last. `problems` gets rows that are
// not runs, and the last one if it is torn. Errors: bad_magic, if the file is no runs.tsv.
Result<std::vector<StudyRun>> read_study_runs(Bytes file, const std::string& name,
                                              ProblemLog& problems);

// Labels runs by their time instead: runs that a signal ended are skipped, unless they were ended
// for taking too long; of each build, those of the others fail that took longer than the `quantile`
// of their times, because the time until a crash says nothing about the pace. REQUIRES: 0 <
// quantile < 1.
void label_slow(std::vector<StudyRun>& runs, double quantile);

// Places in a study.
bool is_study(const std::string& folder);
std::string study_runs_path(const std::string& folder);
std::string study_report_path(const std::string& folder, uint64_t run);
// The run's file of TELLTALE_PATHS, a core file; runs of programs without path tracing have none.
std::string study_paths_path(const std::string& folder, uint64_t run);
std::string study_sites_folder(const std::string& folder);
// Whose site table a file of the folder is.
struct StudySites {
  std::string build;
  std::string library;  // its file's name; empty: the program whose runs the study has
};
// The name of a long file is cut.
std::string study_sites_path(const std::string& folder, const StudySites& of);
StudySites study_sites_of(const std::string& path);
// Site tables of the study's builds and of their libraries, in the order of their names. Errors:
// io.
Result<std::vector<std::string>> study_sites(const std::string& folder);

}  // namespace telltale
