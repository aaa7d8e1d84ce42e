#include "analysis/runtime/compiled_code.h"

#include "base/sort_rows.h"

namespace telltale {

void CompiledCode::on(const CompiledEvent& event) {
  if (event.address == 0) return;
  uint32_t& index = by_function_[event.function];
  if (index == 0) {
    compiled_.emplace_back();
    index = static_cast<uint32_t>(compiled_.size());
  }
  Last& last = compiled_[index - 1];
  const uint64_t before = last.method.compilations;
  last = {place_, {event.function, event.address, event.bytes, before + 1}};
}

void CompiledCode::append(const CompiledCode& next) {
  for (const Last& theirs : next.compiled_) {
    uint32_t& index = by_function_[theirs.method.function];
    if (index == 0) {
      compiled_.push_back(theirs);
      index = static_cast<uint32_t>(compiled_.size());
      continue;
    }
    Last& ours = compiled_[index - 1];
    const uint64_t compilations = ours.method.compilations + theirs.method.compilations;
    if (theirs.place >= ours.place) ours = theirs;
    ours.method.compilations = compilations;
  }
  helpers_ += next.helpers_;
  helper_bytes_ += next.helper_bytes_;
}

std::vector<CompiledCode::Method> CompiledCode::methods() const {
  std::vector<Method> all;
  all.reserve(compiled_.size());
  for (const Last& last : compiled_) all.push_back(last.method);
  sort_rows(all, {}, &Method::function);
  return all;
}

}  // namespace telltale
