#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "analysis/calls/play_calls.h"
#include "base/error.h"
#include "base/problem.h"
#include "model/call_sink.h"
#include "model/event_source.h"
#include "model/events.h"

namespace telltale {

// The calls of a recording by path: all calls through the same chain of callers are one node.
// docs/analysis/call-tree.md defines the numbers.
struct CallTree {
  static constexpr size_t kNoNode = std::numeric_limits<size_t>::max();

  // Times are sums of ticks, exact (modulo 2^64).
  struct Node {
    FunctionId function{};    // undefined for a root
    uint32_t depth = 0;       // 0: a root; 1: an outermost call
    size_t parent = kNoNode;  // index of the caller's node; kNoNode for roots
    size_t end = 0;           // one past the last node of this subtree
    uint64_t calls = 0;       // that ended; 0 for roots
    Ticks total = 0;          // time inside, callees included; a root: of all outermost calls
    Ticks self = 0;           // total less the callees'; 0 for roots
  };
  // A thread; or the only one, for all threads together.
  struct Root {
    size_t node = 0;
    ThreadKey thread;               // undefined if all threads are together
    std::string thread_name;        // may be empty
    std::string process_name = {};  // likewise
  };

  // Depth first: a node's subtree is [index, node.end), callees in order of function id. A loop
  // over the nodes needs no recursion.
  std::vector<Node> nodes;
  std::vector<Root> roots;  // in order of thread; threads without calls are omitted

  uint64_t calls = 0;         // of all nodes
  uint64_t unwound = 0;       // of these: CloseKind::unwound
  uint64_t unfinished = 0;    // of these: CloseKind::unfinished
  uint64_t orphan_exits = 0;  // in no node
  // Calls deeper than CallTreeOptions::max_depth. They are direct children of their caller at that
  // depth, one node for each function, with total = self; calls and self times of every function
  // stay exact, only the nesting is lost.
  uint64_t flattened = 0;
  // Starts and ends of calls with estimated times (a sparse clock).
  uint64_t estimated = 0;
};

struct CallTreeOptions {
  bool by_thread = false;   // a root for each thread; otherwise one for all
  size_t max_depth = 1000;  // at least 1
};

// A tree under construction: a partial answer. In whatever order calls are added, and however they
// are distributed over partials that are merged, finish() returns the same tree. Memory O(distinct
// paths).
class CallTreePartial {
 public:
  explicit CallTreePartial(const CallTreeOptions& options = {}) : options_(options) {
    if (options_.max_depth == 0) options_.max_depth = 1;
  }

  // The node of calls to `function` from `parent`, created if necessary. Valid as long as this.
  uint32_t child(uint32_t parent, FunctionId function);
  // The root of a stream's calls.
  uint32_t root(size_t stream);

  void add_call(uint32_t node, Ticks total, CloseKind how) {
    nodes_[node].calls += 1;
    nodes_[node].total += total;
    unwound_ += static_cast<uint64_t>(how == CloseKind::unwound);
    unfinished_ += static_cast<uint64_t>(how == CloseKind::unfinished);
  }
  // For trees of other events than calls: `count` events with the sum `total`.
  void add_weight(uint32_t node, uint64_t count, uint64_t total) {
    nodes_[node].calls += count;
    nodes_[node].total += total;
  }
  // For calls whose callees' time is not subtracted: flattened ones.
  void subtract_time(uint32_t node, Ticks ticks) { nodes_[node].total -= ticks; }
  void add_flattened(uint64_t calls = 1) { flattened_ += calls; }
  void add_orphan_exit() { ++orphan_exits_; }
  void add_estimated() { ++estimated_; }

  // Merges `other`. REQUIRES: same options, same recording.
  void merge(const CallTreePartial& other);
  // The same calls with all threads together.
  [[nodiscard]] CallTreePartial without_threads() const;
  // The tree; `streams` are the recording's.
  [[nodiscard]] CallTree finish(std::span<const EventStream> streams) const;

  [[nodiscard]] const CallTreeOptions& options() const { return options_; }

 private:
  void add(const CallTreePartial& other);
  static constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();
  struct Node {
    uint32_t parent = kNoParent;
    FunctionId function{};  // the stream's index in a root by thread
    uint64_t calls = 0;
    Ticks total = 0;
  };
  // Nodes by caller and function; the callees of node n are order[first[n]] up to order[first[n +
  // 1]], and roots come after all callees.
  struct ByCaller {
    std::vector<uint32_t> order;
    std::vector<uint32_t> first;
  };
  [[nodiscard]] ByCaller sort_by_caller() const;
  void append_subtree(uint32_t root, const ByCaller& sorted, CallTree& tree) const;
  void grow_index();
  void insert_into_index(uint32_t node);
  [[nodiscard]] size_t slot_of(uint32_t parent, FunctionId function) const;

  CallTreeOptions options_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> index_;  // open addressing; node + 1, 0 is free
  uint64_t unwound_ = 0;
  uint64_t unfinished_ = 0;
  uint64_t flattened_ = 0;
  uint64_t orphan_exits_ = 0;
  uint64_t estimated_ = 0;
};

// Adds the calls of one shard to a partial. A CallSink.
class CallTreeSink : public IgnoreCalls {
 public:
  // `partial` and the context's open_calls outlive the sink.
  CallTreeSink(CallTreePartial& partial, const ShardContext& context)
      : partial_(&partial), before_(context.open_calls), root_(partial.root(context.stream)) {}

  void open(Ticks time, FunctionId function) {
    frames_.push_back({partial_->child(innermost_parent(), function), time});
    if (estimated_) [[unlikely]]
      partial_->add_estimated();
  }
  void estimated(bool now) { estimated_ = now; }
  void close(Ticks time, FunctionId, CloseKind how) {
    if (estimated_) [[unlikely]]
      partial_->add_estimated();
    Ticks entered = 0;
    uint32_t node = 0;
    if (!frames_.empty()) [[likely]] {
      node = frames_.back().node;
      entered = frames_.back().entered;
      frames_.pop_back();
    } else {
      node = node_before(before_.size() - 1);
      entered = before_.back().entered;
      before_ = before_.first(before_.size() - 1);
    }
    const Ticks total = time - entered;
    partial_->add_call(node, total, how);
    const size_t outside = depth();
    if (outside >= partial_->options().max_depth) [[unlikely]]
      add_flattened(outside, total);
  }
  void orphan_exit(Ticks, FunctionId) { partial_->add_orphan_exit(); }

 private:
  struct Frame {
    uint32_t node;
    Ticks entered;
  };
  [[nodiscard]] size_t depth() const { return before_.size() + frames_.size(); }
  // The parent node for a call that is opened now.
  uint32_t innermost_parent() {
    if (depth() > partial_->options().max_depth) [[unlikely]]
      return node_at(partial_->options().max_depth - 1);
    if (!frames_.empty()) [[likely]]
      return frames_.back().node;
    return before_.empty() ? root_ : node_before(before_.size() - 1);
  }
  // The node of the open call with `outside` calls around it.
  uint32_t node_at(size_t outside) {
    return outside < before_.size() ? node_before(outside) : frames_[outside - before_.size()].node;
  }
  uint32_t node_before(size_t outside);
  void add_flattened(size_t outside, Ticks total);

  CallTreePartial* partial_;
  std::span<const OpenCall> before_;   // still open of those from earlier shards
  std::vector<uint32_t> path_before_;  // nodes of the outermost of them, as far as requested
  uint32_t root_;
  std::vector<Frame> frames_;  // open, of this shard
  bool estimated_ = false;
};
static_assert(CallSink<CallTreeSink>);

// Collects the calls of a recording in one pass, on `workers` threads (0: all cores); the result
// does not depend on their number.
template <EventSource Source>
Result<CallTreePartial> collect_call_tree(const Source& source, const CallFilter& filter,
                                          size_t workers, const CallTreeOptions& options,
                                          ProblemLog& problems) {
  workers = worker_count(workers);
  std::vector<CallTreePartial> partials(workers, CallTreePartial(options));
  const Result<void> played = play_calls(
      source, filter, workers,
      [&partials](const ShardContext& context) {
        return CallTreeSink(partials[context.worker], context);
      },
      [](const ShardContext&, CallTreeSink&) { return Result<void>(); }, problems);
  if (!played) return std::unexpected(played.error());
  for (size_t worker = 1; worker < workers; ++worker) partials[0].merge(partials[worker]);
  return std::move(partials[0]);
}

// The finished tree of a recording.
template <EventSource Source>
Result<CallTree> build_call_tree(const Source& source, const CallFilter& filter, size_t workers,
                                 const CallTreeOptions& options, ProblemLog& problems) {
  const Result<CallTreePartial> partial =
      collect_call_tree(source, filter, workers, options, problems);
  if (!partial) return std::unexpected(partial.error());
  return partial->finish(source.streams());
}

}  // namespace telltale
