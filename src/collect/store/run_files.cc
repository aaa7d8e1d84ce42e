#include "collect/store/run_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/sort_rows.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

// The value of "name=value", the last part of a path.
std::string value_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.substr(std::min(name.size(), name.find('=') + 1));
}

// The folders in a folder, without those that another process has removed meanwhile.
Result<std::vector<std::string>> folders_in(const std::string& folder) {
  const auto paths = paths_in(folder);
  if (!paths) return std::unexpected(paths.error());
  std::vector<std::string> folders;
  for (const std::string& path : *paths) {
    std::error_code failure;
    const fs::file_type type = fs::status(path, failure).type();
    if (type == fs::file_type::none) return io_error(path, "cannot be read", failure.value());
    if (type == fs::file_type::directory) folders.push_back(path);
  }
  return folders;
}

}  // namespace

Result<std::vector<RunFile>> run_files(const StoreFolder& store) {
  // runs/application=A/build=B/day=D
  std::vector<std::string> folders = {store.runs()};
  for (int level = 0; level < 3; ++level) {
    std::vector<std::string> below;
    for (const std::string& folder : folders) {
      const auto found = folders_in(folder);
      if (!found) return std::unexpected(found.error());
      below.insert(below.end(), found->begin(), found->end());
    }
    folders = std::move(below);
  }
  std::error_code failure;
  const bool has_digests = fs::is_directory(store.digests(), failure);
  std::vector<RunFile> files;
  for (const std::string& folder : folders) {
    const auto paths = files_in(folder, ".parquet");
    if (!paths) return std::unexpected(paths.error());
    const fs::path day(folder);
    const fs::path build = day.parent_path();
    for (const std::string& path : *paths) {
      const fs::path place = fs::path(path).lexically_relative(store.runs());
      const auto digest = [&](const char* extension) {
        return has_digests
                   ? (fs::path(store.digests()) / place).replace_extension(extension).string()
                   : std::string();
      };
      files.push_back({path, value_of(build.parent_path()), value_of(build), value_of(day),
                       digest("digest"), digest("paths")});
    }
  }
  sort_rows(files, {}, &RunFile::path);
  return files;
}

std::optional<Problem> damage_of(const RunFile& file, const Error& failure) {
  if (failure.record != "DuckDB" || failure.detail.starts_with("Out of Memory") ||
      ::access(file.path.c_str(), R_OK) != 0)
    return std::nullopt;
  return Problem{Problem::Kind::corruption,
                 0,
                 file.path,
                 "Parquet file",
                 fmt::format("is damaged, and runs that it had are missing: {}", failure.detail),
                 0};
}

}  // namespace telltale::collect
