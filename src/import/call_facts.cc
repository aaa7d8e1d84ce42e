#include "import/call_facts.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <vector>

#include "analysis/calls/play_calls.h"
#include "import/runtime_events.h"
#include "model/waiting.h"

namespace telltale {
namespace {

// Pairs of function ids, caller and callee.
using Edges = std::unordered_set<uint64_t>;

// Collects who called whom in one shard.
class EdgeSink : public IgnoreCalls {
 public:
  EdgeSink(Edges& edges, const ShardContext& context) : edges_(&edges) {
    for (const OpenCall& call : context.open_calls) stack_.push_back(call.function);
  }
  void open(Ticks, FunctionId function) {
    if (!stack_.empty() && function != kWaiting)
      edges_->insert(uint64_t{to_number(stack_.back())} << 32 | to_number(function));
    stack_.push_back(function);
  }
  void close(Ticks, FunctionId, CloseKind) { stack_.pop_back(); }

 private:
  Edges* edges_;
  std::vector<FunctionId> stack_;
};

std::set<std::string> thrown_types(const RuntimeEvents& events) {
  ProblemLog known;  // the same problems again
  const WeightedStacks stacks = events.weighted_stacks(StackMetric::throws, {}, 1, known);
  std::set<std::string> types;
  for (const auto& [stream, sums] : stacks.by_stream) {
    for (const auto& [type, lines] : sums.by_owner()) {
      types.insert(type == 0 ? "an exception of unknown type" : stacks.types.name_or_address(type));
    }
  }
  return types;
}

}  // namespace

Result<CallFacts> read_call_facts(const Recording& recording, const TimedCalls& calls,
                                  ProblemLog& problems) {
  CallFacts facts;
  ProfileOptions options;
  options.workers = 1;
  for (const FunctionProfile& row : calls.profile(options, problems).functions) {
    if (row.function == kWaiting) continue;  // not behaviour of the program
    const FunctionInfo& info = calls.functions().describe(row.function);
    const uint64_t count = row.calls + row.unfinished;
    if (count == 0) continue;
    CallFacts::Use& use = facts.functions[info.name];
    use.calls += count;
    use.unwound += row.unwound;
    // A call that a crash has ended is no short one.
    if (row.calls != 0)
      use.longest_ns = std::max(use.longest_ns.value_or(0), calls.clock().to_ns(row.max));
    if (!info.file.empty()) facts.places[info.name] = {info.file, info.line};
  }
  Edges edges;
  ProblemLog known;  // the same problems again
  const Result<void> played = play_calls(
      calls, {}, 1, [&edges](const ShardContext& context) { return EdgeSink(edges, context); },
      [](const ShardContext&, EdgeSink&) { return Result<void>(); }, known);
  if (!played) return std::unexpected(played.error());
  for (const uint64_t edge : edges) {
    facts.edges.emplace(
        calls.functions().describe(FunctionId{static_cast<uint32_t>(edge >> 32)}).name,
        calls.functions().describe(FunctionId{static_cast<uint32_t>(edge)}).name);
  }
  if (const RuntimeEvents* events = recording.runtime_events())
    facts.thrown = thrown_types(*events);
  return facts;
}

}  // namespace telltale
