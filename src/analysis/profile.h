#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/duration_histogram.h"
#include "analysis/open_calls.h"
#include "analysis/play_calls.h"
#include "model/event_source.h"
#include "model/function_map.h"

namespace telltale {

// Where the time went, per function: what `top` answers. Every number is defined in
// docs/analysis/profile.md. Times are ticks of the recording's clock. Counts, sums and extremes are
// exact; quantiles are within DurationHistogram's error, or exact on request.
struct FunctionProfile {
  FunctionId function{};
  uint64_t calls = 0;         // that ended within the recording: returned, tail-called or unwound
  uint64_t unwound = 0;       // of these, how many have no exit of their own
  uint64_t unfinished = 0;    // calls still open at the end; in no other number
  uint64_t orphan_exits = 0;  // exits without an entry; in no other number
  Ticks sum = 0;    // of all calls' durations; a recursive call's time counts at every level
  Ticks total = 0;  // of outermost calls only: time during which the function was on the stack
  Ticks self = 0;   // sum less the time in callees
  Ticks min = 0;    // 0 if there are no calls
  Ticks max = 0;
  Ticks median = 0;
  Ticks p90 = 0;
  Ticks p99 = 0;
};

struct Profile {
  std::vector<FunctionProfile> functions;  // by function id
};

struct ProfileOptions {
  CallFilter filter;
  size_t workers = 0;  // 0: all cores
  bool exact = false;  // keep every duration; memory grows with the number of calls
};

// Collects profiles: one per worker, then merged. Sums, counts, extremes and histograms merge in
// any order.
class ProfileTable {
 public:
  // All that is known of one function. Its address is stable.
  struct alignas(64) Entry {
    uint64_t calls = 0;
    Ticks sum = 0;
    Ticks total = 0;
    Ticks self = 0;  // modulo 2^64 until all units are merged
    Ticks min = std::numeric_limits<Ticks>::max();
    Ticks max = 0;
    FunctionId function{};
    uint32_t open = 0;  // calls of the stream being played that are open
    uint64_t unwound = 0;
    uint64_t unfinished = 0;
    uint64_t orphan_exits = 0;
    DurationHistogram durations;
    std::vector<Ticks> all_durations;  // with ProfileOptions::exact
  };

  explicit ProfileTable(bool exact = false) : exact_(exact) {}
  Entry& operator[](FunctionId function) {
    Entry*& entry = by_function_[function];
    if (entry == nullptr) [[unlikely]]
      entry = &add(function);
    return *entry;
  }
  [[nodiscard]] const Entry* find(FunctionId function) const {
    Entry* const* entry = by_function_.find(function);
    return entry == nullptr ? nullptr : *entry;
  }
  void add_duration(Entry& entry, Ticks duration) const {
    if (exact_) [[unlikely]] {
      entry.all_durations.push_back(duration);
    } else {
      entry.durations.add(duration);
    }
  }
  void merge(ProfileTable& other);  // empties `other`
  [[nodiscard]] Profile finish();

 private:
  Entry& add(FunctionId function);

  bool exact_;
  FunctionMap<Entry*> by_function_;
  std::deque<Entry> entries_;
};

// Plays one unit into a worker's table. An EventSink (fast: no filter), and a CallSink behind a
// filter.
class ProfileSink {
 public:
  // Time in callees of the calls that were open when the unit began, and how many of those are
  // still open at its end.
  struct Carry {
    std::vector<Ticks> child_ticks;  // outermost first, one per call open at the beginning
    std::vector<FunctionId> functions;
    size_t still_open = 0;
    std::vector<Ticks> new_child_ticks;  // of calls opened in the unit and open at its end
  };

  ProfileSink(ProfileTable& table, std::span<const OpenCall> open_before, Ticks floor)
      : table_(&table), floor_(floor) {
    std::vector<Frame> frames;
    for (const OpenCall& call : open_before)
      frames.push_back({call.function, call.entered, 0, &table[call.function]});
    carry_.child_ticks.resize(frames.size());
    for (const OpenCall& call : open_before) carry_.functions.push_back(call.function);
    lowest_ = frames.size();
    calls_ = OpenCalls<Frame, Counter>(Counter{table_});
    calls_.assign(std::move(frames));
  }

  void enter(Ticks time, FunctionId function) {
    calls_.enter({function, advance(time), 0, &(*table_)[function]});
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    time = advance(time);
    const bool found =
        calls_.leave(function, how, [this, time](Frame& frame, CloseKind kind, size_t depth) {
          close_frame(frame, time, kind, depth);
        });
    if (!found) [[unlikely]]
      ++(*table_)[function].orphan_exits;
  }

  void open(Ticks time, FunctionId function) { enter(time, function); }
  void close(Ticks time, FunctionId function, CloseKind how) {
    if (how == CloseKind::unfinished) {
      ++(*table_)[function].unfinished;
      return;  // the frames are dropped by end_unit
    }
    leave(time, function, how == CloseKind::unwound ? LeaveKind::exception : LeaveKind::normal);
  }
  void orphan_exit(Ticks, FunctionId function) { ++(*table_)[function].orphan_exits; }
  void argument(uint64_t) {}
  void instant(const InstantEvent& event) { advance(event.time); }
  void cpu(Ticks time, uint32_t) { advance(time); }
  void loss(const LossEvent&) {}

  // Counts what is open as unfinished. For the last unit of a stream that was played without a
  // filter.
  void finish_stream() {
    for (const Frame& frame : calls_.frames()) ++frame.entry->unfinished;
  }
  // Ends the unit: no call is open in the table afterwards.
  void end_unit();
  [[nodiscard]] const Carry& carry() const { return carry_; }  // after end_unit()

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    Ticks child_ticks = 0;
    ProfileTable::Entry* entry = nullptr;
  };
  // The number of open calls stands in the table's entries.
  struct Counter {
    ProfileTable* table = nullptr;
    uint32_t& of_frame(const Frame& frame) { return frame.entry->open; }
    [[nodiscard]] uint32_t of_function(FunctionId function) const {
      const ProfileTable::Entry* entry = table->find(function);
      return entry == nullptr ? 0 : entry->open;
    }
  };

  Ticks advance(Ticks time) {
    if (time < floor_) [[unlikely]]
      return floor_;
    floor_ = time;
    return time;
  }

  void close_frame(Frame& frame, Ticks time, CloseKind how, size_t depth) {
    ProfileTable::Entry& entry = *frame.entry;
    const Ticks duration = time - frame.entered;
    ++entry.calls;
    entry.sum += duration;
    entry.self += duration - frame.child_ticks;
    entry.min = std::min(entry.min, duration);
    entry.max = std::max(entry.max, duration);
    if (entry.open == 0) entry.total += duration;
    table_->add_duration(entry, duration);
    if (how == CloseKind::unwound) [[unlikely]]
      ++entry.unwound;
    if (depth < lowest_) [[unlikely]] {
      carry_.child_ticks[depth] = frame.child_ticks;
      lowest_ = depth;
    }
    if (depth != 0) (&frame - 1)->child_ticks += duration;  // frames lie side by side
  }

  ProfileTable* table_;
  OpenCalls<Frame, Counter> calls_;
  Ticks floor_;
  size_t lowest_ = 0;  // fewest calls open so far
  Carry carry_;
};

// Follows callee time across the units of a stream.
class ProfileCarry {
 public:
  // `table`: where to correct self times.
  void pass(const ProfileSink::Carry& carry, bool first_unit, ProfileTable& table);

 private:
  std::vector<Ticks> child_ticks_;  // of the open calls, from all units so far
};

// The profile of a recording. Adds what could not be read to `problems`. Memory: O(functions +
// deepest stack), unless exact. The result does not depend on the number of workers.
template <EventSource Source>
Profile compute_profile(const Source& source, const ProfileOptions& options, ProblemLog& problems) {
  const size_t workers = worker_count(options.workers);
  std::deque<ProfileTable> tables;
  for (size_t i = 0; i < workers; ++i) tables.emplace_back(options.exact);
  ProfileCarry carried;

  if (options.filter.keeps_every_call()) {
    std::vector<ProblemLog> logs(workers);
    std::vector<ProfileSink::Carry> carries(kMaxBatchUnits);
    const auto play = [&](const PlannedUnit& unit, size_t slot, size_t worker) {
      ProfileSink sink(tables[worker], unit.open_before, unit.floor);
      source.play(unit.stream, unit.unit, sink, logs[worker]);
      if (unit.last_unit) sink.finish_stream();
      sink.end_unit();
      carries[slot] = sink.carry();
    };
    const auto finish = [&](const PlannedUnit& unit, size_t slot) -> Result<void> {
      carried.pass(carries[slot], unit.unit == 0, tables[0]);
      return {};
    };
    (void)play_units(source, options.filter, workers, play, finish);  // neither can fail
    for (const ProblemLog& log : logs) problems.merge(log);
  } else {
    const auto make = [&](const UnitContext& context) {
      return ProfileSink(tables[context.worker], context.open_calls, 0);
    };
    const auto finish = [&](const UnitContext& context, ProfileSink& sink) -> Result<void> {
      carried.pass(sink.carry(), context.first_unit, tables[0]);
      return {};
    };
    (void)play_calls(source, options.filter, workers, make, finish, problems);
  }
  for (size_t i = 1; i < workers; ++i) tables[0].merge(tables[i]);
  return tables[0].finish();
}

}  // namespace telltale
