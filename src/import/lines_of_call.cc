#include "import/lines_of_call.h"

#include <cstddef>
#include <map>

namespace telltale {

CoveredLines lines_of_call(const FramePaths& frame) {
  // Blocks have lines in any order.
  std::map<SourceLine, Ran> lines;
  std::map<SourceLine, Ran> entered;  // by the blocks as a whole
  for (const FramePaths::Block& block : frame.blocks) {
    for (size_t i = 0; i < block.lines.size(); ++i) {
      add_copy(lines, block.lines[i], block.lines_ran[i]);
      add_copy(entered, block.lines[i], block.ran);
    }
  }
  for (const auto& [place, lost] : frame.lost_lines) {
    // Of a function that is inlined in several places, some may have the line without a trace.
    if (lost.ran == Ran::no && !lost.is_own) continue;
    add_copy(lines, place, lost.ran);
  }
  // Flags of coverage tell of whole blocks.
  for (const auto& [place, ran] : frame.lines) {
    const auto [known, is_new] = lines.try_emplace(place, ran);
    const auto whole = entered.find(place);
    const bool is_of_part = whole != entered.end() && whole->second != known->second;
    if (!is_new && !is_of_part) known->second = agree(known->second, ran);
  }
  return {lines.begin(), lines.end()};
}

}  // namespace telltale
