#include "report/study_check.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/sort_rows.h"
#include "import/study.h"
#include "import/study_stacks.h"
#include "report/soundness.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

// The files of a folder, by name; none, if there is no such folder.
Result<std::vector<std::string>> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  if (!fs::exists(folder, failure)) return files;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->is_regular_file(failure)) files.push_back(at->path().string());
  }
  if (failure) return io_error(folder.string(), "cannot be read", failure.value());
  sort_rows(files);
  return files;
}

// The run that a file's name says; none: it is not a number.
std::optional<uint64_t> run_of(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  uint64_t run = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, run);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return run;
}

class StudyChecker {
 public:
  StudyChecker(const std::string& folder, const OpenOptions& options, FileCheck& checked)
      : folder_(folder), options_(options), checked_(checked) {}

  Result<void> check() {
    if (auto done = check_lists(); !done) return done;
    const auto tables = files_in(study_sites_folder(folder_));
    if (!tables) return std::unexpected(tables.error());
    for (const std::string& table : *tables) check_content(table);
    for (const char* kind : {"reports", "paths"}) {
      const auto files = files_in(fs::path(folder_) / kind);
      if (!files) return std::unexpected(files.error());
      for (const std::string& file : *files) check_file_of_run(file);
    }
    return {};
  }
  [[nodiscard]] size_t runs() const { return runs_.size(); }

 private:
  Result<void> check_lists() {
    const Result<InputFile> file = InputFile::open(study_runs_path(folder_), options_.limits);
    if (!file) return std::unexpected(file.error());
    const auto runs = read_study_runs(file->bytes(), file->name(), checked_.damage);
    if (!runs) return std::unexpected(runs.error());
    for (const StudyRun& run : *runs) runs_.insert(run.number);
    checked_.records += runs->size();
    const auto stacks = read_study_stacks(folder_, checked_.damage);
    if (!stacks) {
      add_error(study_stacks_path(folder_), stacks.error());
      return {};
    }
    for (const auto& [run, stack] : *stacks) {
      checked_.records += stack.size();
      if (!runs_.contains(run))
        add_oddity(study_stacks_path(folder_), fmt::format("has a stack of run {}", run));
    }
    return {};
  }

  void check_file_of_run(const std::string& path) {
    const auto run = run_of(path);
    if (!run || !runs_.contains(*run)) add_oddity(path, "is left of a run that was interrupted");
    std::error_code failure;
    // SIGKILL leaves a run's report empty.
    if (fs::file_size(path, failure) != 0 || failure) check_content(path);
  }

  void check_content(const std::string& path) {
    const Result<InputFile> file = InputFile::open(path, options_.limits);
    if (!file) return add_error(path, file.error());
    Result<FileCheck> found = check_file(*file, options_, nullptr);
    if (!found) return add_error(path, found.error());
    checked_.records += found->records;
    // A reader complains of most violations, too.
    if (found->first && !found->damage.damaged())
      checked_.damage.add({Problem::Kind::corruption, found->first->offset, path,
                           found->first->record, found->first->message, 0});
    checked_.damage.merge(found->damage);
  }

  void add_error(const std::string& path, const Error& error) {
    checked_.damage.add(
        {Problem::Kind::corruption, error.offset.value_or(0), path, error.record, error.detail, 0});
  }
  // What no list of the study names, and nobody reads.
  void add_oddity(const std::string& path, std::string what) {
    checked_.damage.add({Problem::Kind::oddity, 0, path, "Study", std::move(what), 0});
  }

  const std::string& folder_;
  const OpenOptions& options_;
  FileCheck& checked_;
  std::set<uint64_t> runs_;
};

}  // namespace

Result<FileCheck> check_study(const std::string& folder, const OpenOptions& options) {
  FileCheck checked;
  checked.file = folder;
  checked.format = "study";
  checked.version = "1";
  StudyChecker checker(folder, options, checked);
  if (auto done = checker.check(); !done) return std::unexpected(done.error());
  checked.title = fmt::format("study of {}", counted(checker.runs(), "run"));
  checked.valid = !checked.damage.damaged();
  return checked;
}

}  // namespace telltale
