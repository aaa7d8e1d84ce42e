#include "import/lines_of_call.h"

#include <cstddef>
#include <map>
#include <set>

namespace telltale {

namespace {

using Answers = std::map<SourceLine, Ran>;  // blocks have lines in any order

struct ByBlocks {
  Answers lines;
  Answers entered;            // by the blocks as a whole
  std::set<SourceLine> lost;  // may have run without a trace
};

ByBlocks by_blocks(const FramePaths& frame) {
  ByBlocks told;
  for (const FramePaths::Block& block : frame.blocks) {
    for (size_t i = 0; i < block.lines.size(); ++i) {
      add_copy(told.lines, block.lines[i], block.lines_ran[i]);
      add_copy(told.entered, block.lines[i], block.ran);
    }
  }
  for (const auto& [place, lost] : frame.lost_lines) {
    // Of a function that is inlined in several places, some may have the line without a trace.
    if (lost.ran == Ran::no && !lost.is_own) continue;
    add_copy(told.lines, place, lost.ran);
    if (lost.ran != Ran::no) told.lost.insert(place);
  }
  return told;
}

Ran by_flags(const ByBlocks& told, const SourceLine& place, Ran ran) {
  if (ran == Ran::maybe) return ran;
  const auto known = told.lines.find(place);
  if (known == told.lines.end()) return ran;
  if (ran == Ran::no && told.lost.contains(place)) return known->second;
  const auto whole = told.entered.find(place);
  const bool is_whole_block = whole != told.entered.end() && whole->second == known->second;
  return is_whole_block ? ran : known->second;
}

}  // namespace

CoveredLines lines_of_call(const FramePaths& frame) {
  const ByBlocks told = by_blocks(frame);
  Answers lines = told.lines;
  for (const auto& [place, ran] : frame.lines) {
    const Ran flags = by_flags(told, place, ran);
    const auto [known, is_new] = lines.try_emplace(place, flags);
    if (!is_new) known->second = agree(known->second, flags);
  }
  return {lines.begin(), lines.end()};
}

CoveredLines lines_by_flags(const FramePaths& frame) {
  const ByBlocks told = by_blocks(frame);
  CoveredLines lines = frame.lines;
  for (auto& [place, ran] : lines) ran = by_flags(told, place, ran);
  return lines;
}

}  // namespace telltale
