#include "import/csi/gone_functions.h"

namespace telltale {

uint32_t GoneFunctions::number_of(const std::string& file, const std::string& symbol) {
  const auto number = static_cast<uint32_t>(names_.size());
  const auto [known, is_new] = numbers_.try_emplace({file, symbol}, number);
  if (is_new) {
    names_.push_back(&known->first);
    callees_.emplace_back();
  }
  return known->second;
}

void GoneFunctions::add(const csi::FlowRecord& record) {
  for (const csi::FlowRecord::Gone& gone : record.gone)
    calls_.push_back({.record = records_,
                      .block = gone.block,
                      .callee = number_of(gone.file, gone.symbol),
                      .with_callees = gone.with_callees});
  ++records_;
}

void GoneFunctions::add(const csi::UnitRecord::Callees& callees) {
  const uint32_t caller = number_of(callees.caller.file, callees.caller.symbol);
  for (const csi::UnitRecord::Name& callee : callees.callees) {
    const uint32_t number = number_of(callee.file, callee.symbol);
    callees_[caller].push_back(number);
  }
}

GoneFunctions::Names GoneFunctions::that_may_have_run(
    const std::vector<std::vector<Ran>>& ran) const {
  Names names;
  std::vector<bool> is_called(names_.size(), false);
  std::vector<uint32_t> called;  // with what they call
  const auto add = [&](uint32_t number, bool with_callees) {
    names.emplace(names_[number]->first, names_[number]->second);
    if (!with_callees || is_called[number]) return;
    is_called[number] = true;
    called.push_back(number);
  };
  for (const Call& call : calls_)
    if (ran[call.record][call.block] != Ran::no) add(call.callee, call.with_callees);
  for (size_t i = 0; i < called.size(); ++i)
    for (const uint32_t callee : callees_[called[i]]) add(callee, true);
  return names;
}

}  // namespace telltale
