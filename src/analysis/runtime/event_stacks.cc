#include "analysis/runtime/event_stacks.h"

namespace telltale {

void EventStacks::count_calls(const std::vector<uint64_t>& made) {
  for (uint32_t i = 1; i < made.size(); ++i) {
    if (made[i] == 0) continue;
    const auto stack = static_cast<StackTable::Id>(i);
    calls.add(to_number(stacks.innermost(stack)), stacks.caller(stack), {made[i], made[i]});
  }
}

std::vector<StackTable::Id> EventStacks::append(const EventStacks& next,
                                                std::span<const StackTable::Id> bases) {
  std::vector<StackTable::Id> here = stacks.merge(next.stacks, bases);
  allocations.merge(next.allocations, here);
  throws.merge(next.throws, here);
  contentions.merge(next.contentions, here);
  calls.merge(next.calls, here);
  for (size_t kind = 0; kind < kHandleKinds; ++kind) {
    handles_created[kind].merge(next.handles_created[kind], here);
    handles_destroyed[kind].merge(next.handles_destroyed[kind], here);
  }
  recorded |= next.recorded;
  return here;
}

EventStacksSink::EventStacksSink(const EventStacksOptions& options, const FunctionNames& names,
                                 bool kept)
    : options_(options),
      functions_(options.filter, names),
      selects_functions_(!options.like_mprof && options.filter.selects_functions()),
      window_(options.filter, options.zero),
      kept_(kept) {
  all_.frames_kept = options.frames_kept;
}

void EventStacksSink::assume_open(std::span<const FunctionId> functions) {
  for (const FunctionId function : functions) {
    const StackTable::Id stack = all_.stacks.push(current(), function);
    calls_.enter({function, 0, stack, stack});
  }
}

std::vector<FunctionId> EventStacksSink::open_functions() const {
  std::vector<FunctionId> functions;
  for (const Frame& frame : calls_.frames()) functions.push_back(frame.function);
  return functions;
}

EventStacks EventStacksSink::take() {
  all_.count_calls(calls_made_);
  return std::move(all_);
}

}  // namespace telltale
