#include "cli/study/run_evidence.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/problem.h"
#include "bytes/input_file.h"
#include "program/core_file.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

// The runtimes replace "%p" in names.
std::string pattern_of(std::string file) {
  for (size_t at = file.find('%'); at != std::string::npos; at = file.find('%', at + 2))
    file.insert(at, "%");
  return file;
}

// Core files, each with the process's number as its name.
std::string folder_of(const std::string& paths) { return paths + ".processes"; }

bool is_of_crash(const std::string& core) {
  const Result<InputFile> file = InputFile::open(core);
  if (!file) return false;
  ProblemLog problems;
  const Result<CoreFile> read = CoreFile::read(file->bytes(), core, problems);
  return read && read->signal() != 0;
}

struct Candidate {
  std::string path;
  fs::file_time_type written;
  bool fits = false;  // how the run ended

  bool operator<(const Candidate& other) const {
    return std::pair(fits, written) < std::pair(other.fits, other.written);
  }
};

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> evidence_environment(
    const StudyRun& run, const RunEvidence& files) {
  std::error_code failure;
  fs::remove(files.report, failure);
  std::vector<std::pair<std::string, std::string>> environment = {
      {"SAMPLER_FILE", pattern_of(files.report)},
      {"SAMPLER_APPEND", "1"},
      {"SAMPLER_SPARSITY", fmt::format("{}", run.sparsity)},
      {"SAMPLER_SEED", fmt::format("{}", run.seed)},
      {"TELLTALE_RUN", fmt::format("{}", run.number)}};
  if (files.paths.empty()) return environment;
  fs::remove(files.paths, failure);
  const std::string folder = folder_of(files.paths);
  fs::remove_all(folder, failure);
  fs::create_directory(folder, failure);
  if (failure) return io_error(folder, "cannot be made", failure.value());
  environment.emplace_back("TELLTALE_PATHS", pattern_of(folder) + "/%p");
  // Runs that pass are compared with those that fail.
  environment.emplace_back("TELLTALE_PATHS_AT_EXIT", "1");
  return environment;
}

Result<void> keep_paths(const StudyRun& run, const std::string& paths) {
  if (paths.empty()) return {};
  const std::string folder = folder_of(paths);
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure); !failure && at != fs::directory_iterator();
       at.increment(failure)) {
    // A process that was killed may leave part of a file, whose name has an extension.
    if (!at->path().has_extension()) found.push_back(at->path().string());
  }
  const bool crashed = run.label == RunLabel::failed || !run.signal.empty();
  Candidate best;
  for (const std::string& path : found) {
    const Candidate one{path, fs::last_write_time(path, failure),
                        found.size() == 1 || is_of_crash(path) == crashed};
    if (best.path.empty() || best < one) best = one;
  }
  failure.clear();
  if (!best.path.empty()) fs::rename(best.path, paths, failure);
  if (failure) return io_error(paths, "cannot be written", failure.value());
  fs::remove_all(folder, failure);
  return {};
}

}  // namespace telltale::cli
