#include "report/paths/source_lines.h"

#include <filesystem>
#include <utility>

#include "base/plain_path.h"
#include "program/recorded_program.h"

namespace telltale {
namespace {

std::vector<std::string_view> lines_of(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

const SourceLines::Source& SourceLines::source_of(const std::string& file,
                                                  const std::string& directory) {
  const std::string path = plain_path((std::filesystem::path(directory) / file).string());
  auto found = sources_.find(path);
  if (found == sources_.end()) {
    Source source{.input = InputFile::from_memory(path, {}), .lines = {}, .complaint = {}};
    if (may_open_recorded_path(path)) {
      if (Result<InputFile> input = InputFile::open(path)) {
        source.input = *std::move(input);
        source.lines = lines_of(source.input.bytes());
        source.complaint = built_.complaint(path, source.input.bytes());
      }
    }
    found = sources_.emplace(path, std::move(source)).first;
  }
  return found->second;
}

std::string_view SourceLines::line(const std::string& file, const std::string& directory,
                                   uint32_t number) {
  if (file.empty() || number == 0) return {};
  const std::vector<std::string_view>& lines = source_of(file, directory).lines;
  return number <= lines.size() ? lines[number - 1] : std::string_view();
}

size_t SourceLines::count(const std::string& file, const std::string& directory) {
  return file.empty() ? 0 : source_of(file, directory).lines.size();
}

std::string_view SourceLines::complaint(const std::string& file, const std::string& directory) {
  return file.empty() ? std::string_view() : source_of(file, directory).complaint;
}

ChangedSources SourceLines::changed() const {
  ChangedSources changed;
  for (const auto& [path, source] : sources_)
    if (!source.complaint.empty()) changed.emplace(path, source.complaint);
  return changed;
}

}  // namespace telltale
