#include "analysis/paths/flow_structure.h"

namespace telltale {

FlowStructure::FlowStructure(const ProgramFlow& flow)
    : copies(flow), callers(flow.functions.size()) {
  for (uint32_t f = 0; f < flow.functions.size(); ++f) {
    BlockEdges& of_function = edges.emplace_back();
    uint64_t& size = sizes.emplace_back(1);
    for (const ProgramFlow::Block& block : flow.functions[f].blocks) {
      of_function.push_back(block.successors);
      size += 1 + block.successors.size() + block.calls.size();
      may_resume = may_resume || block.may_resume;
      for (const ProgramFlow::Call& call : block.calls) {
        for (const uint32_t callee : call.callees) {
          if (callers[callee].empty() || callers[callee].back() != f) callers[callee].push_back(f);
        }
      }
    }
  }
}

}  // namespace telltale
