#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "model/call_sink.h"
#include "model/event_source.h"
#include "model/events.h"
#include "model/open_calls.h"

namespace telltale {

// The effect of a shard on the calls that are open around it, computed without knowing them, so
// that shards can be scanned in parallel and chained afterwards.
struct ShardBoundary {
  std::vector<FunctionId> exits;  // that match no call of the shard: they end calls of
                                  // earlier shards, or are orphans
  std::vector<OpenCall> opened;   // calls of the shard that are open at its end
  Ticks last_time = 0;            // of its last event
  // An exit may belong to an earlier shard while calls of this shard are open: its effect depends
  // on the calls open before, and the shard must be scanned again with them.
  bool ambiguous = false;
};

class ShardBoundarySink : public IgnoreEvents {
 public:
  void enter(Ticks time, FunctionId function) {
    boundary_.last_time = std::max(boundary_.last_time, time);
    calls_.enter({function, time, estimated_});
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    boundary_.last_time = std::max(boundary_.last_time, time);
    if (calls_.leave(function, how, [](OpenCall&, CloseKind, size_t) {})) return;
    if (calls_.frames().empty()) {
      boundary_.exits.push_back(function);
    } else {
      boundary_.ambiguous = true;
    }
  }
  void instant(const InstantEvent& event) {
    boundary_.last_time = std::max(boundary_.last_time, event.time);
  }
  void cpu(Ticks time, uint32_t) { boundary_.last_time = std::max(boundary_.last_time, time); }
  void estimated(bool now) { estimated_ = now; }

  ShardBoundary take() {
    boundary_.opened = std::move(calls_.frames());
    return std::move(boundary_);
  }

 private:
  OpenCalls<> calls_;
  ShardBoundary boundary_;
  bool estimated_ = false;
};

// Follows the open calls of a stream from shard to shard.
class StreamPosition {
 public:
  [[nodiscard]] const std::vector<OpenCall>& open_calls() const { return calls_.frames(); }
  [[nodiscard]] Ticks last_time() const { return last_time_; }  // of all shards passed

  // Advances past a shard by its effect; plays it again if that is not enough.
  template <EventSource Source>
  void pass(const Source& source, size_t stream, size_t shard, ShardBoundary& boundary) {
    const auto ignore = [](OpenCall&, CloseKind, size_t) {};
    if (boundary.ambiguous) {
      Follow follow(calls_);
      ProblemLog unused(1);
      source.play(stream, shard, follow, unused);
    } else {
      for (const FunctionId function : boundary.exits)
        calls_.leave(function, LeaveKind::normal, ignore);
      for (const OpenCall& call : boundary.opened) calls_.enter(call);
    }
    last_time_ = std::max(last_time_, boundary.last_time);
  }

 private:
  struct Follow : IgnoreEvents {
    OpenCalls<>& calls;  // of the stream
    bool at_estimate = false;
    explicit Follow(OpenCalls<>& open) : calls(open) {}
    void enter(Ticks time, FunctionId function) { calls.enter({function, time, at_estimate}); }
    void estimated(bool now) { at_estimate = now; }
    void leave(Ticks, FunctionId function, LeaveKind how) {
      calls.leave(function, how, [](OpenCall&, CloseKind, size_t) {});
    }
  };

  OpenCalls<> calls_;
  Ticks last_time_ = 0;
};

}  // namespace telltale
