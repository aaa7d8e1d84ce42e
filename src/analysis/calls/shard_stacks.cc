#include "analysis/calls/shard_stacks.h"

#include <algorithm>

namespace telltale {

void ShardStacksSink::begin_stretch() {
  const auto number = static_cast<uint32_t>(shard_.exits.size());
  // No call is of this function, so that no exit takes the bottom for its call.
  frames_[0] = {StackTable::base_function(number), shard_.sums.stacks.base(number)};
}

void ShardStacksSink::Run::grow() {
  std::vector<ShardStacks::Open>& frames = sink_.frames_;
  const auto depth = static_cast<size_t>(at_.top - frames.data());
  frames.resize(2 * frames.size());
  at_.top = frames.data() + depth;
  limit_ = frames.data() + frames.size() - 1;
}

ShardStacksSink::Position ShardStacksSink::leave_other(Position at, FunctionId function,
                                                       LeaveKind how) {
  ShardStacks::Open* const bottom = frames_.data();
  if (at.top == bottom) {
    ++at.events;
    shard_.exits.push_back({function, how});
    begin_stretch();
    return at;
  }
  ShardStacks::Open* call = at.top - 1;
  while (call != bottom && call->function != function) --call;
  if (call == bottom) {
    at.stopped = true;
    shard_.stopped_at = at.events;
    return at;
  }
  ++at.events;
  at.top = call - 1;
  return at;
}

ShardStacks ShardStacksSink::take() {
  for (const ShardStacks::Open* call = frames_.data() + 1; call <= position_.top; ++call)
    shard_.opened.push_back(*call);
  return std::move(shard_);
}

void EventStacksStream::settle(const ShardStacks& shard) {
  std::vector<StackTable::Id> bases = {current()};
  for (const ShardStacks::Exit& exit : shard.exits) {
    open_.leave(exit.function, exit.how, [](Frame&, CloseKind, size_t) {});
    bases.push_back(current());
  }
  const std::vector<StackTable::Id> here = all_.append(shard.sums, bases);
  calls_made_.resize(all_.stacks.size());
  for (size_t i = 0; i < std::min(here.size(), shard.calls_made.size()); ++i)
    calls_made_[static_cast<uint32_t>(here[i])] += shard.calls_made[i];
  for (const ShardStacks::Open& call : shard.opened)
    open_.enter({call.function, 0, here[static_cast<uint32_t>(call.stack)]});
}

std::vector<FunctionId> EventStacksStream::open_functions() const {
  std::vector<FunctionId> functions;
  for (const Frame& frame : open_.frames()) functions.push_back(frame.function);
  return functions;
}

void EventStacksStream::resume(EventStacksSink& rest) {
  open_ = {};
  for (const FunctionId function : rest.open_functions())
    open_.enter({function, 0, all_.stacks.push(current(), function)});
  (void)all_.append(rest.take());
}

EventStacks EventStacksStream::take() {
  all_.count_calls(calls_made_);
  return std::move(all_);
}

}  // namespace telltale
