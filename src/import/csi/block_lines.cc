#include "import/csi/block_lines.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace telltale {
namespace {

using csi::FlowRecord;

using BlockLines = std::vector<csi::PathFunctionRecord::BlockLine>;
using Line = std::pair<std::string, uint32_t>;

std::string name_of(const std::string& file) { return std::filesystem::path(file).filename(); }

}  // namespace

std::vector<std::vector<LineHere>> lines_of(const FlowRecord& record, const BlockLines& places) {
  std::map<uint32_t, InternedText> files;
  for (const csi::PathScope& scope : record.scopes) files.emplace(scope.number, scope.file.str());
  std::vector<std::vector<LineHere>> blocks(record.blocks.size());
  for (const auto& [block, scope, number, calls] : places) {
    const auto file = files.find(scope);
    if (file == files.end() || number == 0) continue;
    const LineHere here{.line = {file->second, number}, .scope = scope, .calls = calls};
    const auto is_same = [&](const LineHere& other) {
      return other.line == here.line && other.scope == scope;
    };
    if (std::ranges::none_of(blocks[block], is_same)) blocks[block].push_back(here);
  }
  return blocks;
}

std::vector<SourceLine> without_repetitions(const std::vector<LineHere>& lines) {
  std::vector<SourceLine> found;
  for (const LineHere& each : lines)
    if (std::ranges::find(found, each.line) == found.end()) found.push_back(each.line);
  return found;
}

bool is_interrupted(const std::vector<FramePaths>& frames, size_t index) {
  bool interrupted = frames[index].interrupted;
  for (; index > 0 && frames[index - 1].inlined; --index)
    interrupted = interrupted || frames[index - 1].interrupted;
  return interrupted;
}

void add_stopped_frame(const std::vector<FramePaths>& frames, size_t index,
                       const ProgramEvidence::Frame& evidence, Stops& stops) {
  if (!is_interrupted(frames, index)) return;
  const FramePaths& frame = frames[index];
  stops.interrupted = true;
  if (evidence.stopped_in.size() == 1)
    stops.places.insert(
        {{name_of(frame.innermost_file), frame.innermost_line}, {name_of(frame.file), frame.line}});
}

std::vector<Ran> lines_ran(const std::vector<LineHere>& lines, const BlockAnswer& block) {
  const ProgramBlocks::Progress& progress = block.progress;
  const auto count_to = [&](const Line& place) {
    const auto found = std::ranges::find_if(lines, [&](const LineHere& here) {
      return here.line.second == place.second && name_of(here.line.first) == place.first;
    });
    return found == lines.end() ? size_t{0} : static_cast<size_t>(found - lines.begin()) + 1;
  };
  size_t before_stop = 0;  // so many lines are not after the place of a frame
  for (const auto& [inner, own] : block.stops.places) {
    const size_t count = count_to(inner);
    before_stop = std::max(before_stop, count == 0 ? count_to(own) : count);
  }
  const auto answer = [&](size_t i) {
    if (lines[i].calls > progress.at_most) return Ran::no;
    if (block.ran != Ran::yes) return block.ran;
    if (progress.left || lines[i].calls < progress.certainly || i < before_stop) return Ran::yes;
    // An instruction of none of the block's lines was moved there: it may be before the first.
    const bool is_reached = lines[i].calls == progress.certainly &&
                            (!block.stops.interrupted || (i == 0 && block.stops.places.empty()));
    return is_reached ? Ran::yes : Ran::maybe;
  };
  std::vector<Ran> ran;
  for (size_t i = 0; i < lines.size(); ++i) ran.push_back(answer(i));
  return ran;
}

}  // namespace telltale
