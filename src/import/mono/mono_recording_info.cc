#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/utc_time.h"
#include "import/mono/mono_record_selector.h"
#include "import/mono/mono_recording.h"

namespace telltale {
namespace {

// Counts events by kind and finds the last time.
struct EventCounter {
  std::array<uint64_t, mono::kEventKinds> kinds{};
  std::array<uint64_t, 4> call_actions{};
  uint64_t first_time = std::numeric_limits<uint64_t>::max();
  uint64_t last_time = 0;

  void calls(mono::CallRun& run) {
    uint64_t enters = 0;
    uint64_t leaves = 0;
    uint64_t others = 0;
    uint64_t last = last_time;
    run.for_each([&](mono::Call::Action action, uint64_t time, uint64_t) {
      enters += static_cast<uint64_t>(action == mono::Call::Action::enter);
      leaves += static_cast<uint64_t>(action == mono::Call::Action::leave);
      others += static_cast<uint64_t>(action == mono::Call::Action::exception_leave);
      last = std::max(last, time);
    });
    call_actions[static_cast<size_t>(mono::Call::Action::enter)] += enters;
    call_actions[static_cast<size_t>(mono::Call::Action::leave)] += leaves;
    call_actions[static_cast<size_t>(mono::Call::Action::exception_leave)] += others;
    last_time = last;
  }
  template <typename Record>
  void event(const mono::EventHead& head, const Record&) {
    ++kinds[static_cast<size_t>(head.kind)];
    note(head.time);
  }
  void add_call(uint64_t time, mono::Call::Action action) {
    ++call_actions[static_cast<size_t>(action)];
    note(time);
  }
  void note(uint64_t time) {
    first_time = std::min(first_time, time);
    last_time = std::max(last_time, time);
  }
  void merge(const EventCounter& other) {
    for (size_t i = 0; i < kinds.size(); ++i) kinds[i] += other.kinds[i];
    for (size_t i = 0; i < call_actions.size(); ++i) call_actions[i] += other.call_actions[i];
    first_time = std::min(first_time, other.first_time);
    last_time = std::max(last_time, other.last_time);
  }
  [[nodiscard]] std::map<std::string_view, uint64_t> by_kind() const {
    std::map<std::string_view, uint64_t> counts;
    for (size_t i = 0; i < kinds.size(); ++i)
      counts[mono::event_name(static_cast<mono::EventKind>(i))] = kinds[i];
    counts["Enter"] = call_actions[static_cast<size_t>(mono::Call::Action::enter)];
    counts["Leave"] = call_actions[static_cast<size_t>(mono::Call::Action::leave)];
    counts["ExceptionLeave"] =
        call_actions[static_cast<size_t>(mono::Call::Action::exception_leave)];
    return counts;
  }
};

// Counts the events that a selector selects.
struct ChosenCounter {
  EventCounter& counter;
  MonoRecordSelector& selector;
  void event(const mono::EventHead& head, const mono::Call& call) {
    if (selector.call(head.time, call)) counter.add_call(head.time, call.action);
  }
  template <typename Record>
  void event(const mono::EventHead& head, const Record& record) {
    if (selector.other(head.time)) counter.event(head, record);
  }
};

}  // namespace

struct MonoRecording::EventCount {
  EventCounter counter;
};

namespace {

// Of the process that wrote a file.
std::vector<std::pair<std::string, std::string>> process_properties(
    const mono::FileHeader& header) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&all](std::string name, std::string value) {
    all.emplace_back(std::move(name), std::move(value));
  };
  if (header.startup_ms != 0)
    add("started", utc_words(static_cast<int64_t>(header.startup_ms / 1000)));
  add("timer overhead", fmt::format("{} ns", header.timer_overhead_ns));
  if (header.pid != 0) add("pid", std::to_string(header.pid));
  if (header.port != 0) add("command port", std::to_string(header.port));
  if (!header.arguments.empty()) add("options", std::string(header.arguments));
  if (!header.architecture.empty())
    add("program ran on", fmt::format("{}, {}", header.operating_system, header.architecture));
  return all;
}

// The profiler leaves out calls that are nested more deeply than this: its option, or its default.
// docs/formats/mono.md, "Depth of calls".
uint64_t call_depth(std::string_view arguments) {
  constexpr std::string_view kOption = "calldepth=";
  uint64_t depth = 100;
  for (const auto word : arguments | std::views::split(',')) {
    std::string_view text(word.begin(), word.end());
    text.remove_prefix(std::min(text.size(), text.find(':') + 1));
    if (text.starts_with(kOption))
      std::from_chars(text.data() + kOption.size(), text.data() + text.size(), depth);
  }
  return depth;
}

}  // namespace

void MonoRecording::add_properties(RecordingInfo& info) const {
  const File& file = *files_.front();
  const mono::FileHeader& header = file.header;
  info.format = "mono";
  info.version = std::to_string(header.version);
  info.properties = {{"profiler version", fmt::format("{}.{}", header.major, header.minor)},
                     {"pointer size", fmt::format("{} bytes", header.pointer_size)}};
  const auto add = [&info](std::string name, std::string value) {
    info.properties.emplace_back(std::move(name), std::move(value));
  };
  if (files_.size() == 1) {
    for (auto& [name, value] : process_properties(header)) add(std::move(name), std::move(value));
  } else {
    for (size_t i = 0; i < files_.size(); ++i) {
      const auto& each = files_[i];
      std::string words = each->input.name();
      for (const auto& [name, value] : process_properties(each->header))
        words += fmt::format(", {} {}", name, value);
      add(fmt::format("process {}", i + 1), std::move(words));
    }
  }
  if (header.version == 15 && !file.layout.has_root_areas)
    add("variant", "a version 15 with the events of version 14");
  if (!file.input.compression().empty()) add("compression", std::string(file.input.compression()));
}

// Reads all events, buffer by buffer. Reports all damage regardless of the filter: it may explain
// missing events.
MonoRecording::EventCount MonoRecording::count_events(size_t workers, ProblemLog& problems) const {
  struct Partial {
    EventCounter counter;
    ProblemLog problems;
  };
  std::vector<Partial> partials(worker_count(workers));
  for (const auto& file : files_) {
    const auto& buffers = file->frames.buffers;
    parallel_for(buffers.size(), partials.size(), [&](size_t item, size_t worker) {
      const mono::DecodeEnd end = file->decode(buffers[item], partials[worker].counter);
      if (!end.error) return;
      partials[worker].problems.add(mono::decode_problem(end, buffers[item], file->input.name()));
    });
  }
  EventCount total;
  for (const Partial& partial : partials) {
    total.counter.merge(partial.counter);
    problems.merge(partial.problems);
  }
  total.counter.first_time = first_time_;
  return total;
}

// Reads the selected events thread by thread, since the depth of a call depends on the calls before
// it.
MonoRecording::EventCount MonoRecording::count_chosen(size_t workers,
                                                      const CallFilter& filter) const {
  std::vector<EventCounter> partials(worker_count(workers));
  parallel_for(streams_.size(), partials.size(), [&](size_t s, size_t worker) {
    if (!filter.keeps_thread(streams_[s].thread)) return;
    RecordFilter records(filter, clock_, first_time_, *names_);
    for (const Stream::Place place : buffers_[s].buffers) {
      const File& file = *files_[place.file];
      records.function_at = [&file](uint64_t method) { return file.methods->id(method); };
      MonoRecordSelector selector(records);
      selector.begin_buffer(streams_[s].thread.pid, static_cast<uint64_t>(streams_[s].thread.tid));
      ChosenCounter counter{partials[worker], selector};
      file.decode(file.frames.buffers[place.buffer], counter);
    }
  });
  EventCount total;
  for (const EventCounter& partial : partials) total.counter.merge(partial);
  return total;
}

RecordingInfo MonoRecording::info(size_t workers, const CallFilter& filter) const {
  RecordingInfo info;
  add_properties(info);
  info.clock = clock_;
  info.problems = problems_;
  for (const EventStream& stream : streams_)
    if (filter.keeps_thread(stream.thread)) info.threads.push_back(stream.thread);
  for (const auto& file : files_) {
    info.files.push_back(file->input.name());
    info.bytes += file->input.bytes().size();
  }
  EventCount count = count_events(workers, info.problems);
  if (!filter.keeps_everything()) count = count_chosen(workers, filter);
  const EventCounter& counter = count.counter;
  if (counter.call_actions[static_cast<size_t>(mono::Call::Action::enter)] != 0) {
    info.properties.emplace_back("calls",
                                 fmt::format("not recorded below a depth of {} (calldepth)",
                                             call_depth(files_.front()->header.arguments)));
  }
  info.first_time = std::min(counter.first_time, std::max(counter.last_time, first_time_));
  info.last_time = std::max(counter.last_time, info.first_time);
  for (const auto& [kind, number] : counter.by_kind()) {
    if (number == 0) continue;
    info.records_by_kind.emplace_back(kind, number);
    info.records += number;
  }
  return info;
}

}  // namespace telltale
