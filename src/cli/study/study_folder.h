#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/sampler/sampler_sites.h"
#include "import/study.h"

namespace telltale::cli {

// A study open for writing. While this exists, no other telltale process can write to it.
// Move-only.
class StudyFolder {
 public:
  // Creates the folder or opens an existing study. Errors: usage, if the folder contains other
  // files and is not a study, or another process writes to it; io; those of read_study_runs.
  static Result<StudyFolder> open(const std::string& folder);
  StudyFolder(StudyFolder&& other) noexcept;
  StudyFolder& operator=(StudyFolder&&) = delete;
  StudyFolder(const StudyFolder&) = delete;
  StudyFolder& operator=(const StudyFolder&) = delete;
  ~StudyFolder();

  [[nodiscard]] const std::string& path() const { return path_; }            // absolute
  [[nodiscard]] const std::vector<StudyRun>& runs() const { return runs_; }  // when it was opened
  [[nodiscard]] uint64_t next_run() const;                                   // unused number

  // Stores the site tables of a program under its build-id, unless they exist. Returns the id.
  // `is_library`: the runs are of another program that uses this one; the file gets its name, too.
  // Errors: io; those of SamplerSites::add; bad_field, if the program has no sites.
  Result<std::string> add_sites(const std::string& program, bool is_library, ProblemLog& problems);
  // For files of study_paths_path(). Errors: io.
  [[nodiscard]] Result<void> make_paths_folder() const;
  // Errors: io.
  Result<void> append(const StudyRun& run);
  // The stack with which a run ended; before the run's row, so that no row lacks its stack. Errors:
  // io.
  Result<void> append_stack(uint64_t run, const std::vector<isolation::StackFrame>& stack);
  // Replaces all rows at once. Errors: io.
  Result<void> rewrite(const std::vector<StudyRun>& runs);

 private:
  StudyFolder(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Result<void> make_folders() const;
  Result<void> open_stacks();

  std::string path_;
  int file_ = -1;    // runs.tsv, locked
  int stacks_ = -1;  // stacks.tsv, once a run had a stack
  std::vector<StudyRun> runs_;
};

}  // namespace telltale::cli
