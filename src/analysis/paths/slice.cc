#include "analysis/paths/slice.h"

#include <vector>

#include "analysis/paths/slicer.h"

namespace telltale {

Slice slice_backward(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
                     const SliceEvidence& evidence, uint64_t most_work) {
  return Slicer(flow, data, evidence, most_work).run();
}

SliceEvidence stack_alone(const SliceEvidence& evidence) {
  SliceEvidence alone = evidence;
  for (std::vector<Ran>& blocks : alone.ran) blocks.assign(blocks.size(), Ran::maybe);
  for (SliceEvidence::Frame& frame : alone.frames) {
    frame.blocks.assign(frame.blocks.size(), Ran::maybe);
    for (const std::vector<uint32_t>& way : frame.ways)
      if (!way.empty()) frame.stopped_in.push_back(way.back());
    frame.ways.clear();
    frame.is_whole = false;
  }
  return alone;
}

}  // namespace telltale
