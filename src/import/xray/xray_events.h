#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/problem.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"
#include "model/events.h"
#include "model/waiting.h"

namespace telltale {

// Visitors that emit XRay records as model events. `Scale` converts a time stamp of the file to
// ticks of the recording.

// Range of the records of one FDR buffer in its file.
struct FdrPlace {
  Bytes file;
  const xray::FileHeader& header;
  const std::string& file_name;
  uint64_t end = 0;                 // one past the last record
  uint64_t limit_tsc = UINT64_MAX;  // start of the thread's next buffer
  bool follows_other_file = false;  // the events before are those of another file
};

// One FDR buffer. `floor_tsc`: lower bound for the times of events.
template <typename Sink, typename Scale>
class FdrToEvents {
 public:
  FdrToEvents(Sink& sink, Scale scale, const FdrPlace& place, uint64_t floor_tsc,
              ProblemLog& problems)
      : sink_(sink),
        scale_(scale),
        layout_(xray::fdr_layout(place.header.version)),
        place_(place),
        file_name_(place.file_name),
        problems_(problems),
        floor_(floor_tsc) {}

  // For records that begin inside a buffer: the time stamp before the first of them.
  void start_at(uint64_t tsc) {
    tsc_ = tsc;
    timed_ = true;
  }

  template <typename Run>
  uint64_t functions(const Run& run) {
    if (!timed_) {
      return run.for_each([&](uint64_t offset, const xray::FunctionRecord&, bool) {
        report_untimed(offset, xray::kFunctionRecordBytes);
      });
    }
    uint64_t end = run.begin();
    if (tsc_ < floor_) end = hold_functions(run);
    EventRun<Sink> to(sink_);
    uint64_t tsc = tsc_;
    const uint64_t begin = end;
    end = run.from(begin).for_each([&](uint64_t, const xray::FunctionRecord& record, bool exits) {
      tsc += record.tsc_delta;
      emit(to, scale_(tsc), record, exits);
    });
    tsc_ = tsc;
    to.end((end - begin) / xray::kFunctionRecordBytes, scale_(tsc));
    if (end != run.begin())
      takes_arguments_ = run.action_before(end) == xray::FunctionAction::enter_args;
    return end;
  }

  void metadata(const xray::FdrRecord& record) {
    if (const auto* argument = std::get_if<xray::CallArgument>(&record.payload)) {
      if (takes_arguments_) {
        sink_.argument(argument->value);
      } else {
        problems_.add({Problem::Kind::oddity, record.offset, file_name_, "CallArgument",
                       "does not follow an entry with arguments", 0});
      }
      return;
    }
    takes_arguments_ = false;
    if (const auto* cpu = std::get_if<xray::NewCpuId>(&record.payload)) {
      set_time(record, cpu->tsc);
      sink_.cpu(now(), cpu->cpu);
    } else if (const auto* wrap = std::get_if<xray::TscWrap>(&record.payload)) {
      if (const uint32_t us = xray::wait_us(record.raw, place_.header)) wait(wrap->tsc, us);
      set_time(record, wrap->tsc);
    } else if (const auto* custom = std::get_if<xray::CustomEvent>(&record.payload)) {
      layout_.event_time_is_delta ? instant(record, "custom", 0, custom->tsc_delta, custom->payload)
                                  : instant_aside(record, custom->tsc, custom->payload);
    } else if (const auto* typed = std::get_if<xray::TypedEvent>(&record.payload)) {
      instant(record, "typed", typed->event_type, typed->tsc_delta, typed->payload);
    }
  }

  // The latest emitted time, on the file's clock.
  [[nodiscard]] uint64_t latest_tsc() const { return std::max(tsc_, floor_); }
  // Reports to the sink that the rest of the buffer is missing.
  void lose(uint64_t bytes, std::string_view reason) {
    sink_.loss(LossEvent{now(), bytes, reason});
  }

 private:
  template <typename To>
  [[gnu::always_inline]] static void emit(To& to, Ticks time, const xray::FunctionRecord& record,
                                          bool exits) {
    const FunctionId function{record.function_id};
    if (exits) {
      to.leave(time, function,
               record.action == xray::FunctionAction::exit ? LeaveKind::normal : LeaveKind::tail);
    } else {
      to.enter(time, function);
    }
  }
  // Emits records until the clock has caught up with the latest emitted time; returns the offset
  // after them.
  template <typename Run>
  [[gnu::noinline]] uint64_t hold_functions(const Run& run) {
    return run.for_each([&](uint64_t, const xray::FunctionRecord& record, bool exits) {
      tsc_ += record.tsc_delta;
      emit(sink_, now(), record, exits);
      return tsc_ < floor_;
    });
  }
  // Time stamps that go backwards (a clock that differs between CPUs) are clamped to the latest
  // time seen.
  [[nodiscard]] Ticks now() const { return scale_(latest_tsc()); }

  void set_time(const xray::FdrRecord& record, uint64_t tsc) {
    // A signal handler's buffer may begin before the last event of the one that it interrupted.
    if ((timed_ || place_.follows_other_file) && tsc < std::max(tsc_, floor_)) {
      floor_ = std::max(tsc_, floor_);
      problems_.add({Problem::Kind::oddity, record.offset, file_name_,
                     std::string(xray::record_name(record.payload)),
                     "the clock goes backwards; time is held until it has caught up", 0});
    }
    tsc_ = tsc;
    timed_ = true;
  }

  // A wait that ended at `tsc`.
  void wait(uint64_t tsc, uint32_t us) {
    if (!timed_ || tsc <= latest_tsc()) return;
    const uint64_t gap = tsc - latest_tsc();
    const double ticks =
        std::round(us * static_cast<double>(place_.header.cycle_frequency) / 1'000'000);
    const bool all = us == UINT32_MAX || ticks >= static_cast<double>(gap);
    sink_.enter(scale_(tsc - (all ? gap : static_cast<uint64_t>(ticks))), kWaiting);
    sink_.leave(scale_(tsc), kWaiting, LeaveKind::normal);
  }

  void instant(const xray::FdrRecord& record, std::string_view category, uint32_t type,
               int32_t delta, Bytes payload) {
    if (!timed_) {
      report_untimed(record.offset, record.raw.size());
      return;
    }
    if (delta < 0) floor_ = std::max(tsc_, floor_);
    tsc_ += static_cast<uint64_t>(int64_t{delta});
    sink_.instant(InstantEvent{now(), category, type, payload});
  }
  // Versions 1 to 4: a custom event has its own time, which does not advance the clock. It is
  // emitted at that time, clamped between its neighbours.
  void instant_aside(const xray::FdrRecord& record, uint64_t tsc, Bytes payload) {
    if (next_timed_.offset <= record.offset) {
      next_timed_ = xray::find_next_timed(place_.file, place_.header,
                                          record.offset + record.raw.size(), place_.end, tsc_);
    }
    const uint64_t at_most = std::min({tsc, next_timed_.tsc, place_.limit_tsc});
    aside_ = std::max({at_most, aside_, tsc_, floor_});
    sink_.instant(InstantEvent{scale_(aside_), "custom", 0, payload});
  }

  void report_untimed(uint64_t offset, uint64_t bytes) {
    problems_.add({Problem::Kind::corruption, offset, file_name_, "Buffer",
                   "no NewCPUId record sets the time of this record; it is ignored", bytes});
  }

  Sink& sink_;
  Scale scale_;
  xray::FdrLayout layout_;
  FdrPlace place_;
  const std::string& file_name_;
  ProblemLog& problems_;
  xray::TimedPlace next_timed_;
  uint64_t aside_ = 0;  // of the latest event with its own time
  uint64_t tsc_ = 0;
  uint64_t floor_;
  bool timed_ = false;
  bool takes_arguments_ = false;
};

// One run of a basic log. `floor_tsc`: lower bound for the times of events.
template <typename Sink, typename Scale>
class BasicToEvents {
 public:
  BasicToEvents(Sink& sink, Scale scale, uint64_t floor_tsc)
      : sink_(sink), scale_(scale), time_(floor_tsc) {}

  [[nodiscard]] uint64_t latest_tsc() const { return time_; }

  void record(const xray::BasicRecord& record) {
    const FunctionId function{static_cast<uint32_t>(record.function_id)};
    if (record.type == xray::BasicRecordType::argument) {
      // Writers also log arguments of calls that they did not log; only an argument that follows
      // its entry is emitted.
      if (takes_arguments_ && function == last_) sink_.argument(record.argument);
      return;
    }
    takes_arguments_ = false;
    time_ = std::max(time_, record.tsc);
    const Ticks time = scale_(time_);
    if (!cpu_known_ || record.cpu != cpu_) {
      cpu_ = record.cpu;
      cpu_known_ = true;
      sink_.cpu(time, cpu_);
    }
    switch (record.kind) {
      case xray::BasicKind::enter:
        sink_.enter(time, function);
        break;
      case xray::BasicKind::exit:
        sink_.leave(time, function, LeaveKind::normal);
        break;
      case xray::BasicKind::tail_exit:
        sink_.leave(time, function, LeaveKind::tail);
        break;
      case xray::BasicKind::enter_args:
        sink_.enter(time, function);
        takes_arguments_ = true;
        last_ = function;
        break;
    }
  }

 private:
  Sink& sink_;
  Scale scale_;
  uint64_t time_;
  FunctionId last_{};
  uint8_t cpu_ = 0;
  bool cpu_known_ = false;
  bool takes_arguments_ = false;
};

}  // namespace telltale
