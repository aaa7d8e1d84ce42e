#include "analysis/runtime/compiled_code.h"

#include "base/sort_rows.h"

namespace telltale {

std::pair<size_t, bool> CompiledCode::place_of(size_t process, FunctionId function) {
  if (by_process_.size() <= process) by_process_.resize(process + 1);
  uint32_t& index = by_process_[process][function];
  const bool is_new = index == 0;
  if (is_new) {
    compiled_.emplace_back();
    index = static_cast<uint32_t>(compiled_.size());
  }
  return {index - 1, is_new};
}

void CompiledCode::on(const CompiledEvent& event) {
  if (event.address == 0) return;
  Last& last = compiled_[place_of(process_, event.function).first];
  const uint64_t before = last.method.compilations;
  last = {place_, {process_, event.function, event.address, event.bytes, before + 1}};
}

void CompiledCode::append(const CompiledCode& next) {
  for (const Last& theirs : next.compiled_) {
    const auto [place, is_new] = place_of(theirs.method.process, theirs.method.function);
    Last& ours = compiled_[place];
    const uint64_t compilations = ours.method.compilations + theirs.method.compilations;
    if (is_new || theirs.place >= ours.place) ours = theirs;
    ours.method.compilations = compilations;
  }
  helpers_ += next.helpers_;
  helper_bytes_ += next.helper_bytes_;
}

std::vector<CompiledCode::Method> CompiledCode::methods() const {
  std::vector<Method> all;
  all.reserve(compiled_.size());
  for (const Last& last : compiled_) all.push_back(last.method);
  sort_rows(all, {}, [](const Method& one) { return std::pair(one.function, one.process); });
  return all;
}

}  // namespace telltale
