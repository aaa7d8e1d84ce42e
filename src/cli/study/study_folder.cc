#include "cli/study/study_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/folder_access.h"
#include "bytes/as_bytes.h"
#include "bytes/write_all.h"
#include "cli/options/message.h"
#include "cli/study/program_sites.h"
#include "import/study_stacks.h"
#include "output/escape.h"
#include "output/output_file.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0644;

Result<void> make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) return io_error(folder, "cannot be made", failure.value());
  return {};
}

}  // namespace

Result<StudyFolder> StudyFolder::open(const std::string& folder) {
  std::error_code failure;
  const std::string path = fs::absolute(folder, failure).lexically_normal().string();
  if (fs::exists(path, failure) && !is_study(path)) {
    if (!fs::is_directory(path, failure)) return usage_error(folder + " is not a folder");
    if (auto allowed = check_folder_access(path); !allowed) return std::unexpected(allowed.error());
    if (!fs::is_empty(path, failure))
      return usage_error(folder + " contains files but is not a study (it has no runs.tsv)");
  }
  const std::string list = study_runs_path(path);
  fs::create_directories(path, failure);
  if (failure) return io_error(folder, "cannot be made", failure.value());
  const int file = ::open(list.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
  if (file < 0) return io_error(list, "cannot be written", errno);
  StudyFolder study(path, file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    return usage_error(folder + ": another telltale writes to this study");
  if (auto made = study.make_folders(); !made) return std::unexpected(made.error());
  const off_t size = ::lseek(file, 0, SEEK_END);
  if (size == 0) {
    if (auto head = write_all(file, as_bytes(study_runs_head()), list); !head)
      return std::unexpected(head.error());
    return study;
  }
  const Result<InputFile> input = InputFile::open(list);
  if (!input) return std::unexpected(input.error());
  ProblemLog problems;
  auto runs = read_study_runs(input->bytes(), list, problems);
  if (!runs) return std::unexpected(runs.error());
  study.runs_ = *std::move(runs);
  const Bytes bytes = input->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const size_t whole = text.rfind('\n') + 1; whole != text.size()) {
    // Its run is unknown; the next run takes its number.
    if (::ftruncate(file, static_cast<off_t>(whole)) != 0)
      return io_error(list, "cannot be truncated after its last complete row", errno);
    print_message("telltale: {}: removed the torn last row\n", visible(list));
  }
  return study;
}

StudyFolder::StudyFolder(StudyFolder&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      stacks_(std::exchange(other.stacks_, -1)),
      runs_(std::move(other.runs_)) {}

StudyFolder::~StudyFolder() {
  if (file_ >= 0) ::close(file_);
  if (stacks_ >= 0) ::close(stacks_);
}

Result<void> StudyFolder::make_folders() const {
  auto made = make_folder(study_sites_folder(path_));
  if (made) made = make_folder(fs::path(study_report_path(path_, 1)).parent_path().string());
  return made;
}

Result<void> StudyFolder::make_paths_folder() const {
  return make_folder(fs::path(study_paths_path(path_, 1)).parent_path().string());
}

uint64_t StudyFolder::next_run() const { return runs_.empty() ? 1 : runs_.back().number + 1; }

Result<std::string> StudyFolder::add_sites(const std::string& program, bool is_library,
                                           ProblemLog& problems) {
  const Result<ProgramSites> sites = read_program_sites(program, problems);
  if (!sites) return std::unexpected(sites.error());
  const std::string& name = sites->build;
  std::string path = study_sites_path(path_, {name, {}});
  std::error_code failure;
  if (fs::exists(path, failure)) return name;
  if (is_library) {
    path = study_sites_path(path_, {name, fs::path(program).filename().string()});
    if (fs::exists(path, failure)) return name;
  }
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(sites->text); !written) return std::unexpected(written.error());
  if (auto finished = file->finish(); !finished) return std::unexpected(finished.error());
  return name;
}

Result<void> StudyFolder::append(const StudyRun& run) {
  return write_all(file_, as_bytes(to_line(run)), study_runs_path(path_));
}

Result<void> StudyFolder::open_stacks() {
  const std::string path = study_stacks_path(path_);
  // NOLINTNEXTLINE(*-signed-bitwise)
  stacks_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
  if (stacks_ < 0) return io_error(path, "cannot be opened", errno);
  const off_t size = ::lseek(stacks_, 0, SEEK_END);
  if (size == 0) return write_all(stacks_, as_bytes(study_stacks_head()), path);
  // Of a torn last row nothing more is known; a line end makes the next row whole.
  char last = '\n';
  if (::pread(stacks_, &last, 1, size - 1) != 1) return io_error(path, "cannot be read", errno);
  return last == '\n' ? Result<void>() : write_all(stacks_, as_bytes("\n"), path);
}

Result<void> StudyFolder::append_stack(uint64_t run,
                                       const std::vector<isolation::StackFrame>& stack) {
  if (stack.empty()) return {};
  if (stacks_ < 0) {
    if (auto opened = open_stacks(); !opened) return opened;
  }
  return write_all(stacks_, as_bytes(to_lines(run, stack)), study_stacks_path(path_));
}

Result<void> StudyFolder::rewrite(const std::vector<StudyRun>& runs) {
  Result<OutputFile> file = OutputFile::open(study_runs_path(path_));
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(study_runs_head()); !written) return written;
  for (const StudyRun& run : runs) {
    if (auto written = file->write(to_line(run)); !written) return written;
  }
  return file->finish();
}

}  // namespace telltale::cli
