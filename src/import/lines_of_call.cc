#include "import/lines_of_call.h"

#include <cstddef>
#include <map>
#include <set>

namespace telltale {

namespace {

using Answers = std::map<SourceLine, Ran>;  // blocks have lines in any order

// What a frame's blocks say of its lines.
struct BlockAnswers {
  Answers lines;
  Answers whole_blocks;       // as if each block had run to its end
  std::set<SourceLine> lost;  // may have run without a trace
};

BlockAnswers answers_of_blocks(const FramePaths& frame) {
  BlockAnswers blocks;
  for (const FramePaths::Block& block : frame.blocks) {
    for (size_t i = 0; i < block.lines.size(); ++i) {
      add_copy(blocks.lines, block.lines[i], block.lines_ran[i]);
      add_copy(blocks.whole_blocks, block.lines[i], block.ran);
    }
  }
  for (const auto& [place, lost] : frame.lost_lines) {
    // Of a function that is inlined in several places, some may have the line without a trace.
    if (lost.ran == Ran::no && !lost.is_own) continue;
    add_copy(blocks.lines, place, lost.ran);
    if (lost.ran != Ran::no) blocks.lost.insert(place);
  }
  return blocks;
}

// Corrects the answer of the flags of coverage for a line. Flags are set for whole blocks: where a
// block was left early, or the optimiser left no trace of the line, the blocks' answer counts.
Ran correct_flag(const BlockAnswers& blocks, const SourceLine& place, Ran ran) {
  if (ran == Ran::maybe) return ran;
  const auto known = blocks.lines.find(place);
  if (known == blocks.lines.end()) return ran;
  if (ran == Ran::no && blocks.lost.contains(place)) return known->second;
  const auto whole = blocks.whole_blocks.find(place);
  const bool is_whole_block = whole != blocks.whole_blocks.end() && whole->second == known->second;
  return is_whole_block ? ran : known->second;
}

}  // namespace

CoveredLines lines_of_call(const FramePaths& frame) {
  const BlockAnswers blocks = answers_of_blocks(frame);
  Answers lines = blocks.lines;
  for (const auto& [place, ran] : frame.lines) {
    const Ran flags = correct_flag(blocks, place, ran);
    const auto [known, is_new] = lines.try_emplace(place, flags);
    if (!is_new) known->second = agree(known->second, flags);
  }
  return {lines.begin(), lines.end()};
}

CoveredLines lines_by_flags(const FramePaths& frame) {
  const BlockAnswers blocks = answers_of_blocks(frame);
  CoveredLines lines = frame.lines;
  for (auto& [place, ran] : lines) ran = correct_flag(blocks, place, ran);
  return lines;
}

}  // namespace telltale
