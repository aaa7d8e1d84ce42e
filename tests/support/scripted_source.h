#pragma once

// A recording written in a test, event by event:
//
//   ScriptedSource source;
//   source.thread({.pid = 1, .tid = 7}, "main").enter(0, 1).enter(10, 2)
//       .shard().leave(30, 2).leave(40, 1);
//
// Times are ticks of a 1 GHz clock by default; shard() begins the thread's next shard.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale::testing {

// Names by id; functions without a name are "#id".
class ScriptedNames : public FunctionNames {
 public:
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    const auto found = infos_.find(id);
    if (found != infos_.end()) return found->second;
    return unknown_[id] = unnamed(to_number(id));
  }
  void set(uint32_t id, FunctionInfo info) { infos_[FunctionId{id}] = std::move(info); }
  // describe() of unnamed functions is not thread-safe: name them first.
  void prepare(uint32_t ids) {
    for (uint32_t id = 0; id < ids; ++id) infos_.try_emplace(FunctionId{id}, unnamed(id));
  }

 private:
  static FunctionInfo unnamed(uint32_t id) {
    FunctionInfo info;
    info.name = "#" + std::to_string(id);
    return info;
  }
  std::map<FunctionId, FunctionInfo> infos_;
  mutable std::map<FunctionId, FunctionInfo> unknown_;
};

class ScriptedSource {
 public:
  ScriptedSource() {
    clock_.name = "script";
    clock_.ticks_per_second = 1'000'000'000;
    names_->prepare(64);
  }

  ScriptedSource& frequency(uint64_t hz) {
    clock_.ticks_per_second = hz;
    return *this;
  }
  ScriptedSource& starts_at(Ticks time) {
    first_time_ = time;
    return *this;
  }
  ScriptedSource& name(uint32_t id, FunctionInfo info) {
    names_->set(id, std::move(info));
    return *this;
  }
  // Threads must come in order of (pid, tid).
  ScriptedSource& thread(ThreadKey key, std::string thread_name = {}) {
    streams_.push_back({.thread = key,
                        .thread_name = std::move(thread_name),
                        .shards = 1,
                        .process = static_cast<size_t>(key.pid)});
    events_.emplace_back(1);
    return *this;
  }
  ScriptedSource& shard() {
    events_.back().emplace_back();
    streams_.back().shards = events_.back().size();
    return *this;
  }
  ScriptedSource& enter(Ticks time, uint32_t id) { return add(Enter{time, FunctionId{id}}); }
  ScriptedSource& argument(uint64_t value) { return add(Argument{value}); }
  ScriptedSource& leave(Ticks time, uint32_t id, LeaveKind how = LeaveKind::normal) {
    return add(Leave{time, FunctionId{id}, how});
  }
  ScriptedSource& cpu(Ticks time, uint32_t number) { return add(Cpu{time, number}); }
  ScriptedSource& instant(Ticks time, std::string_view category, std::string payload,
                          uint32_t type = 0) {
    return add(Instant{time, category, type, std::move(payload)});
  }
  ScriptedSource& loss(Ticks time, uint64_t bytes, std::string reason) {
    return add(Loss{time, bytes, std::move(reason)});
  }

  // --- Events of a runtime other than calls. Spans and views that events refer to come from
  // kept().
  // ---
  using RuntimeEvent = std::variant<AllocationEvent, ThrowEvent, MonitorEvent, CollectionEvent,
                                    HeapResized, HeapShotEvent, HeapObjectEvent, HeapRootsEvent,
                                    HeapRootAreaEvent, LoadEvent, SampleEvent, CompiledEvent,
                                    NativeSymbolEvent, CounterDescribed, CounterEvent, PieceEvent>;
  ScriptedSource& on(RuntimeEvent event) { return add(Runtime{std::move(event)}); }
  // As long as the source, or a copy of it, lives.
  template <typename T>
  std::span<const T> kept(std::vector<T> values) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    kept_.push_back(owned);
    return *owned;
  }
  RecordedStack stack(const std::vector<uint32_t>& outermost_first) {
    std::vector<FunctionId> functions;
    for (const uint32_t id : outermost_first) functions.push_back(FunctionId{id});
    return {true, kept(std::move(functions))};
  }

  // --- EventSource ---
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *names_; }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const {
    return 8 * events_[stream][shard].size();
  }
  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog&) const {
    for (const Event& event : events_[stream][shard]) {
      std::visit([&sink](const auto& e) { e.emit(sink); }, event);
    }
  }

 private:
  struct Enter {
    Ticks time;
    FunctionId id;
    void emit(auto& sink) const { sink.enter(time, id); }
  };
  struct Argument {
    uint64_t value;
    void emit(auto& sink) const { sink.argument(value); }
  };
  struct Leave {
    Ticks time;
    FunctionId id;
    LeaveKind how;
    void emit(auto& sink) const { sink.leave(time, id, how); }
  };
  struct Cpu {
    Ticks time;
    uint32_t number;
    void emit(auto& sink) const { sink.cpu(time, number); }
  };
  struct Instant {
    Ticks time;
    std::string_view category;
    uint32_t type;
    std::string payload;
    void emit(auto& sink) const {
      sink.instant(InstantEvent{time, category, type,
                                std::as_bytes(std::span(payload.data(), payload.size()))});
    }
  };
  struct Loss {
    Ticks time;
    uint64_t bytes;
    std::string reason;
    void emit(auto& sink) const { sink.loss(LossEvent{time, bytes, reason}); }
  };
  struct Runtime {
    RuntimeEvent event;
    void emit(auto& sink) const {
      std::visit([&sink](const auto& e) { telltale::emit(sink, e); }, event);
    }
  };
  using Event = std::variant<Enter, Argument, Leave, Cpu, Instant, Loss, Runtime>;
  ScriptedSource& add(Event event) {
    events_.back().back().push_back(std::move(event));
    return *this;
  }

  std::vector<std::shared_ptr<const void>> kept_;
  Clock clock_;
  Ticks first_time_ = 0;
  std::shared_ptr<ScriptedNames> names_ = std::make_shared<ScriptedNames>();
  std::vector<EventStream> streams_;
  std::vector<std::vector<std::vector<Event>>> events_;  // by stream and shard
};
static_assert(EventSource<ScriptedSource>);

}  // namespace telltale::testing
