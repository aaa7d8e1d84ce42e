#include "import/csi/functions_of_records.h"

#include <utility>

namespace telltale {

FunctionsOfRecords::FunctionsOfRecords(const FlowFunctions& functions,
                                       const std::map<std::string, ModulePaths>& modules) {
  for (uint32_t f = 0; f < functions.functions().size(); ++f) {
    const FlowFunction& function = functions.functions()[f];
    const auto module = modules.find(function.module);
    if (module == modules.end()) continue;
    for (const csi::FlowRecord* const record : function.copies) {
      by_key_[record->key].push_back(f);
      const auto graph = module->second.graphs.find(record->paths_key);
      if (record->paths_key == 0 || graph == module->second.graphs.end()) continue;
      Traced traced{.function = f, .blocks = {}};
      for (uint32_t block = 0; block < record->blocks.size(); ++block)
        for (const uint64_t id : record->blocks[block].nodes) traced.blocks.emplace(id, block);
      const auto [known, is_new] = traced_.try_emplace(graph->second.get(), std::move(traced));
      if (!is_new && (!known->second || known->second->function != f)) known->second.reset();
    }
  }
}

const FunctionsOfRecords::Traced* FunctionsOfRecords::traced_by(const PathGraph& graph) const {
  const auto found = traced_.find(&graph);
  return found == traced_.end() || !found->second ? nullptr : &*found->second;
}

const std::vector<uint32_t>& FunctionsOfRecords::with_key(uint64_t key) const {
  static const std::vector<uint32_t> none;
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? none : found->second;
}

}  // namespace telltale
