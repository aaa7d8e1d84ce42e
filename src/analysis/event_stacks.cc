#include "analysis/event_stacks.h"

namespace telltale {

void EventStacks::append(const EventStacks& next) {
  const std::vector<StackTable::Id> here = stacks.merge(next.stacks);
  allocations.merge(next.allocations, here);
  throws.merge(next.throws, here);
  contentions.merge(next.contentions, here);
  calls.merge(next.calls, here);
  for (size_t kind = 0; kind < kHandleKinds; ++kind) {
    handles_created[kind].merge(next.handles_created[kind], here);
    handles_destroyed[kind].merge(next.handles_destroyed[kind], here);
  }
  recorded |= next.recorded;
}

EventStacksSink::EventStacksSink(const EventStacksOptions& options, const FunctionNames& names,
                                 bool kept)
    : options_(options),
      functions_(options.filter, names),
      window_(options.filter, options.zero),
      kept_(kept) {}

StackTable::Id EventStacksSink::push_other(StackTable::Id caller, FunctionId function) {
  const StackTable::Id stack = all_.stacks.push(caller, function);
  if (to_number(stack) >= known_.size()) known_.resize(2 * all_.stacks.size());
  known_[to_number(caller)].inner[static_cast<uint32_t>(function) & 1] = {function, stack};
  return stack;
}

EventStacks EventStacksSink::take() {
  for (uint32_t i = 1; i < known_.size(); ++i) {
    const uint64_t calls = known_[i].calls;
    if (calls == 0) continue;
    const auto stack = static_cast<StackTable::Id>(i);
    all_.calls.add(static_cast<uint32_t>(all_.stacks.innermost(stack)), all_.stacks.caller(stack),
                   {calls, calls});
  }
  return std::move(all_);
}

}  // namespace telltale
