#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "base/problem.h"
#include "model/clock.h"

namespace telltale {

// The common vocabulary of all formats for what a program did. Events are delivered by static calls
// to a sink, thread by thread, in the thread's own order; times never go back within a thread.

// A function by its id in the recording; FunctionNames maps it to a name.
enum class FunctionId : uint32_t {};
constexpr uint32_t to_number(FunctionId id) { return static_cast<uint32_t>(id); }

// A thread of a process. pid 0: not recorded. Several processes of a recording may have one pid: in
// containers, after each other, or the programs that a process executes.
struct ThreadKey {
  int64_t pid = 0;
  int64_t tid = 0;
  uint32_t process = 0;  // 1, 2, ... of several with this pid; 0: the only one
  bool operator==(const ThreadKey&) const = default;
  auto operator<=>(const ThreadKey& other) const {
    return std::tie(pid, process, tid) <=> std::tie(other.pid, other.process, other.tid);
  }
};

enum class LeaveKind : uint8_t {
  normal,     // a return
  tail,       // the function ended by jumping to another one
  exception,  // an exception passed through it
};

// Data that the program recorded at a point in time.
struct InstantEvent {
  Ticks time = 0;
  std::string_view category;           // "custom" or "typed" for XRay; static storage
  uint32_t type = 0;                   // of a typed event; 0 otherwise
  std::span<const std::byte> payload;  // valid during the call only
};

// Events are missing from here on (or were skipped) in this thread.
struct LossEvent {
  Ticks time = 0;           // of the last event before the gap
  uint64_t bytes = 0;       // of unusable input; 0: unknown
  std::string_view reason;  // valid during the call only
};

// A sink is any type with these members; it inherits those that it does not need from IgnoreEvents.
template <typename S>
concept EventSink =
    requires(S& sink, Ticks time, FunctionId function, LeaveKind how, uint64_t value, uint32_t cpu,
             const InstantEvent& instant, const LossEvent& loss) {
      sink.enter(time, function);
      sink.argument(value);  // of the last enter event; in parameter order
      sink.leave(time, function, how);
      sink.instant(instant);
      sink.cpu(time, cpu);  // the thread runs on this CPU from here on
      sink.loss(loss);
    };

// A sink may have a type Run, constructed from the sink, for many consecutive events: it keeps
// frequently changing state in local variables. It gets events as enter(), leave() and leaf() (an
// entry directly followed by its normal exit), then end(events, latest): their number (a leaf
// counts as two) and the time of the last one. It takes functions as its own type Function, which
// find() returns and which stays valid as long as the sink; an importer may store them. Importers
// with such sequences use EventRun, which is the sink itself if there is no Run.
template <typename Sink>
struct EventRun {
  using Function = FunctionId;
  Sink& sink;
  explicit EventRun(Sink& to) : sink(to) {}
  Function find(FunctionId function) { return function; }
  [[gnu::always_inline]] void enter(Ticks time, FunctionId function) { sink.enter(time, function); }
  [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
    sink.leave(time, function, how);
  }
  [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, FunctionId function) {
    sink.enter(entered, function);
    sink.leave(left, function, LeaveKind::normal);
  }
  void end(uint64_t /*events*/, Ticks /*latest*/) {}
};
template <typename Sink>
  requires requires { typename Sink::Run; }
struct EventRun<Sink> : Sink::Run {
  using Sink::Run::Run;
};

struct IgnoreEvents {
  void enter(Ticks, FunctionId) {}
  void argument(uint64_t) {}
  void leave(Ticks, FunctionId, LeaveKind) {}
  void instant(const InstantEvent&) {}
  void cpu(Ticks, uint32_t) {}
  void loss(const LossEvent&) {}
};
static_assert(EventSink<IgnoreEvents>);

}  // namespace telltale
