#include "collect/store_folder.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/sort_rows.h"
#include "collect/log/durable_file.h"
#include "collect/log/log_segment.h"
#include "collect/log/report_log.h"
#include "collect/log/stored_report.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarker = "telltale store 1\n";

}  // namespace

Result<std::vector<std::string>> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure))
    paths.push_back(at->path().string());
  if (failure && failure != std::errc::no_such_file_or_directory)
    return io_error(folder, "cannot be read", failure.value());
  sort_rows(paths);
  return paths;
}

Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view ending) {
  Result<std::vector<std::string>> files = paths_in(folder);
  if (files)
    std::erase_if(*files, [&](const std::string& p) { return fs::path(p).extension() != ending; });
  return files;
}

Result<std::optional<InputFile>> open_if_there(const std::string& path) {
  std::error_code failure;
  if (fs::symlink_status(path, failure).type() == fs::file_type::not_found) return std::nullopt;
  Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  return std::optional(*std::move(file));
}

Result<void> StoreFolder::create() const {
  std::error_code failure;
  if (!exists() && fs::is_directory(path_, failure) && !fs::is_empty(path_, failure))
    return usage_error(path_ + " has other files and is not a store");
  for (const std::string& folder :
       {path_, log(), damaged(), ids(), runs(), digests(), sites(), temporary()}) {
    if (auto made = make_folder(folder); !made) return made;
  }
  if (exists()) return {};
  return replace_file(marker(), kMarker);
}

bool StoreFolder::exists() const {
  std::error_code failure;
  return fs::is_regular_file(marker(), failure);
}

std::string StoreFolder::sites_of(std::string_view application, std::string_view build) const {
  return fmt::format("{}/{}/{}.sites", sites(), application, build);
}

std::string StoreFolder::programs_of(std::string_view application, std::string_view build) const {
  return fmt::format("{}/programs/{}/{}", path_, application, build);
}

Result<std::vector<uint64_t>> StoreFolder::segments() const {
  const auto paths = files_in(log(), ".log");
  if (!paths) return std::unexpected(paths.error());
  std::vector<uint64_t> numbers;
  for (const std::string& path : *paths) {
    const std::string name = fs::path(path).stem().string();
    uint64_t number = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, number).ptr == end) numbers.push_back(number);
  }
  return numbers;
}

Result<StoredIds> StoreFolder::read_ids(ProblemLog& problems, uint64_t& log_bytes) const {
  StoredIds ids;
  std::vector<ReportKey> keys;
  const auto paths = files_in(this->ids(), ".ids");
  if (!paths) return std::unexpected(paths.error());
  for (const std::string& path : *paths) {
    const auto read = collect::read_ids(path);
    if (read) {
      keys.insert(keys.end(), read->begin(), read->end());
    } else if (read.error().cause == Error::Cause::io) {
      return std::unexpected(read.error());
    } else {
      problems.add({Problem::Kind::corruption, read.error().offset.value_or(0), path, "Ids",
                    read.error().detail, 0});
    }
  }
  const auto numbers = segments();
  if (!numbers) return std::unexpected(numbers.error());
  for (const uint64_t number : *numbers) {
    const std::string path = segment_path(log(), number);
    const Result<InputFile> file = InputFile::open(path);
    if (!file) return std::unexpected(file.error());
    log_bytes += file->bytes().size();
    SegmentReader reader(file->bytes(), path, problems);
    while (const auto entry = reader.next()) {
      const auto payload = read_payload(entry->payload);
      if (payload) {
        keys.push_back(key_of(payload->head));
      } else {
        problems.add({Problem::Kind::corruption, entry->offset, path, "Entry",
                      payload.error().detail, entry->payload.size()});
      }
    }
  }
  ids.add(keys);
  return ids;
}

}  // namespace telltale::collect
