#include "collect/store_folder.h"

#include <fmt/format.h>

#include <algorithm>
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

bool is_gone(const std::string& path) {
  std::error_code failure;
  return fs::status(path, failure).type() == fs::file_type::not_found;
}

// The numbers at the beginning of each line, up to another text.
std::vector<uint64_t> numbers_in(Bytes bytes) {
  std::vector<uint64_t> numbers;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return numbers;
}

// The numbers that names of segments begin with.
Result<std::vector<uint64_t>> segments_in(const std::string& folder) {
  const auto paths = files_in(folder, ".log");
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
  Result<InputFile> file = InputFile::open(path);
  if (file) return std::optional(*std::move(file));
  if (is_gone(path)) return std::nullopt;
  return std::unexpected(file.error());
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

Result<std::vector<uint64_t>> StoreFolder::segments() const { return segments_in(log()); }

Result<bool> StoreFolder::has_unfolded() const {
  const auto numbers = segments();
  if (!numbers) return std::unexpected(numbers.error());
  return std::ranges::any_of(*numbers, [&](uint64_t number) {
    std::error_code gone;  // it was folded meanwhile
    const uint64_t bytes = fs::file_size(segment_path(log(), number), gone);
    return !gone && bytes > kSegmentHead.size();
  });
}

Result<std::vector<uint64_t>> StoreFolder::planned() const {
  const auto file = open_if_there(plan());
  if (!file) return std::unexpected(file.error());
  return *file ? numbers_in((*file)->bytes()) : std::vector<uint64_t>();
}

Result<uint64_t> StoreFolder::next_segment(uint64_t now_us) const {
  uint64_t next = now_us;
  // In this order: a fold that runs removes segments when the others have their numbers.
  for (const auto& numbers : {segments(), planned(), segments_in(damaged())}) {
    if (!numbers) return std::unexpected(numbers.error());
    for (const uint64_t number : *numbers) next = std::max(next, number + 1);
  }
  const auto paths = files_in(ids(), ".ids");
  if (!paths) return std::unexpected(paths.error());
  for (const std::string& path : *paths) {
    const std::string name = fs::path(path).stem().string();
    uint64_t last = 0;
    const size_t dash = name.find('-');
    if (dash == std::string::npos) continue;
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), last);
    next = std::max(next, last + 1);
  }
  return next;
}

Result<StoredIds> StoreFolder::read_ids(ProblemLog& problems, uint64_t& log_bytes) const {
  StoredIds ids;
  std::vector<ReportKey> keys;
  // Segments first: a fold that runs removes them when their ids are in a file.
  const auto numbers = segments();
  if (!numbers) return std::unexpected(numbers.error());
  for (const uint64_t number : *numbers) {
    const std::string path = segment_path(log(), number);
    const auto file = open_if_there(path);
    if (!file) return std::unexpected(file.error());
    if (!*file) continue;
    log_bytes += (*file)->bytes().size();
    SegmentReader reader((*file)->bytes(), path, problems);
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
  const auto paths = files_in(this->ids(), ".ids");
  if (!paths) return std::unexpected(paths.error());
  for (const std::string& path : *paths) {
    const auto read = collect::read_ids(path);
    if (read) {
      keys.insert(keys.end(), read->begin(), read->end());
    } else if (read.error().cause != Error::Cause::io) {
      problems.add({Problem::Kind::corruption, read.error().offset.value_or(0), path, "Ids",
                    read.error().detail, 0});
    } else if (!is_gone(path)) {
      return std::unexpected(read.error());
    }
  }
  ids.add(keys);
  return ids;
}

}  // namespace telltale::collect
