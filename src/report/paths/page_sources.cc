#include "report/paths/page_sources.h"

#include <algorithm>

#include "output/flame/page_room.h"

namespace telltale {

size_t PageSources::use(const std::string& file, const std::string& directory, uint32_t line) {
  const auto [known, is_new] = numbers_.try_emplace({directory, file}, files_.size());
  if (is_new) files_.push_back({.file = file, .directory = directory});
  File& source = files_[known->second];
  if (line != 0) {
    source.first = source.first == 0 ? line : std::min(source.first, line);
    source.last = std::max(source.last, line);
  }
  return known->second;
}

void PageSources::write(JsonWriter& json, PageRoom& room) {
  constexpr uint32_t kAround = 40;
  constexpr uint32_t kMostLinesOfFile = 100'000;
  json.begin_array();
  for (const File& source : files_) {
    const auto count = static_cast<uint32_t>(
        std::min<size_t>(lines_.count(source.file, source.directory), UINT32_MAX - kAround));
    const uint32_t first = source.first > kAround ? source.first - kAround : 1;
    const uint32_t last =
        std::min({count, source.last + std::min(kAround, count), first + kMostLinesOfFile});
    json.begin_object().member("file", room.text(source.file)).member("first", first);
    json.key("lines").begin_array();
    size_t bytes = 0;
    for (uint32_t line = first; line <= last; ++line)
      bytes +=
          std::min(lines_.line(source.file, source.directory, line).size(), PageRoom::kLineBytes);
    if (room.source_file(bytes)) {
      for (uint32_t line = first; line <= last; ++line)
        json.value(room.source_line(lines_.line(source.file, source.directory, line)));
    }
    json.end_array();
    const std::string_view complaint = lines_.complaint(source.file, source.directory);
    if (!complaint.empty()) json.member("changed", complaint);
    json.end_object();
  }
  json.end_array();
}

}  // namespace telltale
