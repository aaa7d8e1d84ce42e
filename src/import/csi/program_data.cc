#include "import/csi/program_data.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "import/csi/library_calls.h"

namespace telltale {
namespace {

using csi::FlowRecord;
using Storage = FunctionData::Storage;

bool is_global(const FunctionData::Object& object) {
  return object.storage == Storage::global || object.storage == Storage::private_global;
}

// Static variables that their names do not identify: those of several units with the same name, and
// those used by a function that several units define, of which only one copy is analysed.
class UnclearVariables {
 public:
  UnclearVariables(const FlowFunctions& functions,
                   const std::map<std::string, ModulePaths>& modules,
                   const std::vector<FunctionData*>& data) {
    for (const auto& [module, paths] : modules) {
      std::set<std::string_view> seen;
      for (const csi::UnitRecord& unit : paths.units)
        if (!seen.insert(unit.unit).second) units_.emplace(module, unit.unit);
    }
    for (size_t f = 0; f < data.size(); ++f) {
      const FlowFunction& function = functions.functions()[f];
      if (data[f] == nullptr || !has_several_units(function)) continue;
      for (const FunctionData::Object& object : data[f]->objects)
        if (object.is_of_unit) names_.emplace(function.module, object.name);
    }
  }
  [[nodiscard]] bool has(const std::string& module, const std::string& unit,
                         const std::string& name) const {
    return units_.contains({module, unit}) || names_.contains({module, name});
  }

 private:
  static bool has_several_units(const FlowFunction& function) {
    return std::ranges::any_of(function.copies, [&](const FlowRecord* copy) {
      return copy->unit != function.copies.front()->unit;
    });
  }
  std::set<std::pair<std::string, std::string>> units_;
  std::set<std::pair<std::string, std::string>> names_;
};

template <typename Use>
void for_each_step(FunctionData& data, Use use) {
  for (FunctionData::Block& block : data.blocks) std::ranges::for_each(block.steps, use);
}

// Nothing that is written to the object certainly replaces what was in it.
void make_inexact(FunctionData& data, uint32_t object) {
  for_each_step(data, [&](FunctionData::Step& step) {
    for (FunctionData::Part& part : step.writes)
      if (part.object == object) part.is_exact = false;
  });
}

void number_variables(const FlowFunctions& functions,
                      const std::map<std::string, ModulePaths>& modules,
                      const std::vector<FunctionData*>& all) {
  const UnclearVariables unclear(functions, modules, all);
  // By module and unit, if those count, and name.
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> numbers;
  for (size_t f = 0; f < all.size(); ++f) {
    if (all[f] == nullptr) continue;
    const FlowFunction& function = functions.functions()[f];
    const std::string& unit = function.copies.front()->unit;
    for (uint32_t i = 0; i < all[f]->objects.size(); ++i) {
      FunctionData::Object& object = all[f]->objects[i];
      if (!is_global(object)) continue;
      const bool is_unclear = object.is_of_unit && unclear.has(function.module, unit, object.name);
      const std::tuple key(object.is_of_unit ? function.module : std::string(),
                           object.is_of_unit && !is_unclear ? unit : std::string(), object.name);
      object.variable =
          numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
      if (is_unclear) make_inexact(*all[f], i);
    }
  }
}

// By number among the calls of each block.
void add_library_effects(const FlowFunctions& functions, const FlowRecord& record,
                         const std::string& module, FunctionData& data) {
  std::vector<std::vector<const std::string*>> callees(record.blocks.size());
  for (const FlowRecord::Call& call : record.calls) callees[call.block].push_back(&call.callee);
  for (size_t block = 0; block < data.blocks.size(); ++block) {
    for (FunctionData::Step& step : data.blocks[block].steps) {
      if (!step.call || step.call->number >= callees[block].size()) continue;
      const std::string& callee = *callees[block][step.call->number];
      if (functions.find(module, callee).empty()) telltale::add_library_effects(callee, *step.call);
    }
  }
}

}  // namespace

std::vector<const FunctionData*> data_of_functions(const FlowFunctions& functions,
                                                   std::map<std::string, ModulePaths>& modules) {
  std::vector<FunctionData*> all;
  for (const FlowFunction& function : functions.functions()) {
    FunctionData* found = nullptr;
    auto& of_module = modules[function.module].data;
    for (const FlowRecord* const copy : function.copies) {
      const auto record = of_module.find(copy->key);
      if (record == of_module.end() || record->second.blocks.size() != copy->blocks.size())
        continue;
      found = &record->second;
      add_library_effects(functions, *copy, function.module, *found);
      break;
    }
    all.push_back(found);
  }
  number_variables(functions, modules, all);
  return {all.begin(), all.end()};
}

}  // namespace telltale
