#include "output/timeline/timeline_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "output/escape.h"
#include "output/timeline/shown_thread.h"

namespace telltale {
namespace {

class MarksMaker {
 public:
  MarksMaker(const RuntimeTimeline& timeline, const CallFilter& filter,
             const ExportContext& context)
      : timeline_(timeline), filter_(filter), context_(context) {}

  TimelineMarks make() {
    pauses();
    collections();
    waits();
    throws();
    heap();
    counters();
    return std::move(marks_);
  }

 private:
  [[nodiscard]] uint64_t ns(Ticks time) const {
    return context_.clock.to_ns(time - context_.first_time);
  }
  [[nodiscard]] bool chosen(Ticks time) const {
    return ns(time) >= filter_.from_ns && ns(time) < filter_.to_ns;
  }
  [[nodiscard]] bool keeps(size_t stream) const {
    return filter_.keeps_thread(context_.streams[stream].thread);
  }
  // A track of the stream's process. Slices of a track must not overlap, so each begins no earlier
  // than the end of the one before.
  void slice(TimelineMarks::Track& track, Ticks begin, Ticks end, std::string name,
             TimelineMarks::Arguments arguments) {
    const uint64_t floor = track.marks.empty() ? 0 : track.marks.back().ns;
    track.marks.push_back(
        {std::max(ns(begin), floor), true, std::move(name), std::move(arguments)});
    track.marks.push_back({std::max(ns(end), track.marks.back().ns), false, {}});
  }

  void pauses() {
    std::map<size_t, TimelineMarks::Track> by_process;
    for (const RuntimeTimeline::Pause& pause : timeline_.pauses) {
      if (!chosen(pause.begin) || !pause.end) continue;
      TimelineMarks::Track& track = by_process[context_.streams[pause.stream].process];
      track.name = "GC pauses";
      track.stream = pause.stream;
      if (!track.marks.empty() && track.marks.back().ns > ns(pause.begin)) continue;
      track.marks.push_back(
          {ns(pause.begin),
           true,
           pause.shutdown ? "stop at the end" : "pause",
           {{"generation", uint64_t{pause.generation}}, {"collections", pause.collections}}});
      if (pause.stopped && *pause.stopped >= pause.begin && *pause.stopped <= *pause.end) {
        slice(track, pause.begin, *pause.stopped, "stopping threads", {});
        if (pause.restarting && *pause.restarting >= *pause.stopped &&
            *pause.restarting <= *pause.end) {
          slice(track, *pause.stopped, *pause.restarting, "world stopped", {});
          slice(track, *pause.restarting, *pause.end, "restarting threads", {});
        }
      }
      track.marks.push_back({ns(*pause.end), false, {}});
    }
    for (auto& [process, track] : by_process) marks_.tracks.push_back(std::move(track));
  }

  void collections() {
    std::map<std::pair<size_t, uint8_t>, TimelineMarks::Track> tracks;
    for (const GcCollection& one : timeline_.collections) {
      if (!chosen(one.begin)) continue;
      auto& track = tracks[{context_.streams[one.stream].process, one.generation}];
      track.name = fmt::format("GC collections, generation {}", one.generation);
      track.stream = one.stream;
      slice(track, one.begin, one.end, fmt::format("generation {}", one.generation), {});
    }
    for (auto& [key, track] : tracks) marks_.tracks.push_back(std::move(track));
  }

  void waits() {
    std::map<size_t, TimelineMarks::Track> tracks;
    for (const RuntimeTimeline::Wait& wait : timeline_.waits) {
      if (!chosen(wait.begin) || !keeps(wait.stream) || !wait.end) continue;
      TimelineMarks::Track& track = tracks[wait.stream];
      track.name = "Waiting for locks";
      track.stream = wait.stream;
      track.of_thread = true;
      TimelineMarks::Arguments arguments = {
          {"lock",
           fmt::format("0x{:x}", address_in(to_number(wait.object), timeline_.address_bits))},
          {"outcome", std::string(wait.acquired ? "acquired" : "failed")}};
      add_site(arguments, wait.stack);
      slice(track, wait.begin, *wait.end, "wait", std::move(arguments));
    }
    for (auto& [stream, track] : tracks) marks_.tracks.push_back(std::move(track));
  }

  void throws() {
    for (const RuntimeTimeline::Throw& one : timeline_.throws) {
      if (!chosen(one.time) || !keeps(one.stream)) continue;
      TimelineMarks::Arguments arguments;
      add_site(arguments, one.stack);
      marks_.instants.push_back({ns(one.time), one.stream, "exception", std::move(arguments)});
    }
  }
  void add_site(TimelineMarks::Arguments& arguments, StackTable::Id stack) const {
    if (stack == StackTable::Id::empty) return;
    arguments.emplace_back("at",
                           context_.functions.describe(timeline_.stacks.innermost(stack)).name);
  }

  void heap() {
    struct Counters {
      TimelineMarks::Counter size{"Heap size", "bytes", 0, {}};
      TimelineMarks::Counter bytes{"Live bytes", "bytes", 0, {}};
      TimelineMarks::Counter objects{"Live objects", "", 0, {}};
    };
    std::map<size_t, Counters> by_process;
    const auto of = [&](size_t stream) -> Counters& {
      Counters& all = by_process[context_.streams[stream].process];
      all.size.stream = all.bytes.stream = all.objects.stream = stream;
      return all;
    };
    for (const RuntimeTimeline::HeapSize& one : timeline_.heap_sizes) {
      if (chosen(one.time))
        of(one.stream).size.values.emplace_back(ns(one.time), static_cast<int64_t>(one.bytes));
    }
    for (const RuntimeTimeline::Shot& shot : timeline_.shots) {
      if (!chosen(shot.begin) || !shot.ended) continue;
      Counters& all = of(shot.stream);
      all.bytes.values.emplace_back(ns(shot.begin), static_cast<int64_t>(shot.bytes));
      all.objects.values.emplace_back(ns(shot.begin), static_cast<int64_t>(shot.objects));
    }
    for (auto& [process, all] : by_process) {
      for (TimelineMarks::Counter* counter : {&all.size, &all.bytes, &all.objects})
        if (!counter->values.empty()) marks_.counters.push_back(std::move(*counter));
    }
  }

  void counters() {
    for (const CounterValues::Series& series : timeline_.counters.series()) {
      TimelineMarks::Counter counter;
      counter.name = series.counter.section + "/" + series.counter.name;
      counter.stream = series.counter.stream;
      series.for_each([&](const CounterValues::Value& value) {
        if (!chosen(value.time) || value.form == CounterEvent::Form::text) return;
        if (value.form == CounterEvent::Form::real) {
          if (std::isfinite(value.real)) counter.values.emplace_back(ns(value.time), value.real);
        } else {
          counter.values.emplace_back(ns(value.time), static_cast<int64_t>(value.number));
        }
      });
      if (!counter.values.empty()) marks_.counters.push_back(std::move(counter));
    }
  }

  const RuntimeTimeline& timeline_;
  const CallFilter& filter_;
  const ExportContext& context_;
  TimelineMarks marks_;
};

class ChromeEntries {
 public:
  explicit ChromeEntries(const ExportContext& context) : context_(context) {}

  std::string make(const TimelineMarks& marks) {
    // Separate tracks are asynchronous slices: one id and category per track.
    for (size_t i = 0; i < marks.tracks.size(); ++i) {
      const TimelineMarks::Track& track = marks.tracks[i];
      std::vector<const TimelineMarks::Mark*> open;
      for (const TimelineMarks::Mark& mark : track.marks) {
        if (mark.begin) open.push_back(&mark);
        const TimelineMarks::Mark& named = *open.back();
        begin(mark.begin ? "b" : "e", mark.ns, track.stream, named.name);
        text_ += fmt::format(",\"cat\":\"{}\",\"id\":{}", escaped(track.name), i + 1);
        if (mark.begin) arguments(mark.arguments);
        text_ += '}';
        if (!mark.begin) open.pop_back();
      }
    }
    for (const TimelineMarks::Instant& instant : marks.instants) {
      begin("i", instant.ns, instant.stream, instant.name);
      text_ += ",\"s\":\"t\",\"cat\":\"telltale.runtime\"";
      arguments(instant.arguments);
      text_ += '}';
    }
    for (const TimelineMarks::Counter& counter : marks.counters) {
      for (const auto& [ns, value] : counter.values) {
        begin("C", ns, counter.stream, counter.name);
        text_ += ",\"args\":{\"value\":";
        std::visit([this](auto number) { text_ += fmt::format("{}", number); }, value);
        text_ += "}}";
      }
    }
    return std::move(text_);
  }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
  }
  void begin(std::string_view phase, uint64_t ns, size_t stream, std::string_view name) {
    const EventStream& from = context_.streams[stream];
    text_ += fmt::format(",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"name\":\"{}\"",
                         phase, distinct_pid(from.thread), shown_tid(from, stream), ns / 1000,
                         ns % 1000, escaped(name));
  }
  void arguments(const TimelineMarks::Arguments& all) {
    if (all.empty()) return;
    text_ += ",\"args\":{";
    for (const auto& [name, value] : all) {
      if (text_.back() != '{') text_ += ',';
      text_ += fmt::format("\"{}\":", name);
      if (const auto* number = std::get_if<uint64_t>(&value)) {
        text_ += fmt::format("{}", *number);
      } else {
        text_ += fmt::format("\"{}\"", escaped(std::get<std::string>(value)));
      }
    }
    text_ += '}';
  }

  const ExportContext& context_;
  std::string text_;
};

}  // namespace

TimelineMarks make_timeline_marks(const RuntimeTimeline& timeline, const CallFilter& filter,
                                  const ExportContext& context) {
  return MarksMaker(timeline, filter, context).make();
}

std::string chrome_entries(const TimelineMarks& marks, const ExportContext& context) {
  return ChromeEntries(context).make(marks);
}

}  // namespace telltale
