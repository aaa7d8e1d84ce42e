#include "import/recording_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "base/sort_rows.h"
#include "bytes/input_file.h"
#include "import/formats.h"
#include "import/study.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

enum class Content : uint8_t { recording, nothing, other };

// What cannot be read could be a recording, so that is an error.
Result<Content> content_of(const fs::directory_entry& entry, const OpenOptions& options) {
  std::error_code failure;
  const std::string name = entry.path().filename().string();
  if (name.starts_with('.') || name.contains(".side")) return Content::other;
  if (entry.is_symlink(failure) && !fs::exists(entry.path(), failure))
    return io_error(entry.path().string(), "cannot open", ENOENT);
  if (!entry.is_regular_file(failure)) return Content::other;
  const Result<InputFile> file = InputFile::open(entry.path().string(), options.limits);
  if (!file) return std::unexpected(file.error());
  if (file->bytes().empty()) return Content::nothing;
  return find_format(*file, options) ? Content::recording : Content::other;
}

// How a file is named in a folder: its extension, unless that is a number.
std::string ending_of(const std::string& path) {
  std::string ending = fs::path(path).extension().string();
  return ending.find_first_not_of(".0123456789") == std::string::npos ? std::string() : ending;
}

// One name of each file, in order: a side record is beside one name only.
std::vector<std::string> without_repetitions(std::vector<std::string> names) {
  sort_rows(names);
  std::error_code unknown;
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    return std::pair(!fs::exists(name + ".side", unknown), fs::is_symlink(name, unknown));
  });
  std::set<std::pair<dev_t, ino_t>> seen;
  std::erase_if(names, [&](const std::string& name) {
    struct stat status = {};
    return ::stat(name.c_str(), &status) == 0 && !seen.emplace(status.st_dev, status.st_ino).second;
  });
  sort_rows(names);
  return names;
}

Result<std::vector<std::string>> recordings_in(const std::string& folder,
                                               const OpenOptions& options) {
  std::vector<std::string> files;
  std::vector<std::string> empty;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const Result<Content> content = content_of(*at, options);
    if (!content) return std::unexpected(content.error());
    if (*content == Content::recording) files.push_back(at->path().string());
    if (*content == Content::nothing) empty.push_back(at->path().string());
  }
  if (failure) return io_error(folder, "cannot be read", failure.value());
  if (files.empty())
    return usage_error(folder + (is_study(folder)
                                     ? " is a study: use telltale study info, isolate or check"
                                     : " is a folder without recordings"));
  // A program that dies at once leaves an empty recording. Outputs of runs are empty, too, but have
  // other names.
  std::set<std::string> endings;
  for (const std::string& file : files) endings.insert(ending_of(file));
  std::erase_if(empty, [&](const std::string& file) { return !endings.contains(ending_of(file)); });
  std::ranges::move(empty, std::back_inserter(files));
  return without_repetitions(std::move(files));
}

}  // namespace

Result<std::vector<std::string>> files_of(const OpenOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) {
    std::error_code failure;
    if (path.empty()) return usage_error("the name of a file is empty");
    if (!fs::is_directory(path, failure)) {
      files.push_back(path);
      continue;
    }
    Result<std::vector<std::string>> found = recordings_in(path, options);
    if (!found) return found;
    std::ranges::move(*found, std::back_inserter(files));
  }
  return files;
}

bool is_of_folder(const OpenOptions& options, const std::string& file) {
  return std::ranges::find(options.files, file) == options.files.end();
}

}  // namespace telltale
