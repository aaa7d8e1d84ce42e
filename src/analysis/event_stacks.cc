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

void EventStacksSink::enter(Ticks time, FunctionId function) {
  if (options_.like_mprof && (!kept_ || !in_window(time))) return;
  const StackTable::Id caller = current();
  const bool shown = options_.like_mprof || (calls_.frames().size() < options_.filter.max_depth &&
                                             functions_.keeps(function));
  calls_.enter({function, time, shown ? all_.stacks.push(caller, function) : caller});
  if (options_.calls && shown && kept_ && in_window(time))
    all_.calls.add(to_number(function), caller, 1);
}

void EventStacksSink::leave(Ticks time, FunctionId function, LeaveKind how) {
  if (options_.like_mprof) {
    if (!kept_ || !in_window(time)) return;
    if (calls_.frames().empty() || calls_.frames().back().function != function) return;
  }
  calls_.leave(function, how, [](Frame&, CloseKind, size_t) {});
}

}  // namespace telltale
