#include "import/xray/xray_side_record.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/counted.h"
#include "base/signal_name.h"
#include "base/unrecorded_processes.h"
#include "base/utc_time.h"
#include "formats/xray/side_record.h"
#include "import/merged_names.h"
#include "import/recorded_names.h"
#include "model/short_name.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

constexpr std::string_view kSuffix = ".side";
constexpr std::array<std::string_view, 4> kCompressed = {".gz", ".zst", ".xz", ".lz4"};
constexpr uint64_t kPidOffset = 24;  // in a side record

std::optional<std::string> find_path(const std::string& trace_path) {
  if (trace_path == "-") return std::nullopt;
  std::vector<std::string> candidates = {trace_path + std::string(kSuffix)};
  for (const std::string_view ending : kCompressed) {
    if (!trace_path.ends_with(ending)) continue;
    const std::string plain = trace_path.substr(0, trace_path.size() - ending.size());
    candidates.push_back(plain + std::string(kSuffix));
    candidates.push_back(plain + std::string(kSuffix) + std::string(ending));
  }
  for (const std::string& path : candidates) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(path, failure)) return path;
  }
  return std::nullopt;
}

// A side record found next to a trace.
struct FoundSideRecord {
  std::string path;
  xray::SideRecord record;
};

struct Loss {
  uint64_t events;
  std::string_view reason;
  Problem::Kind kind = Problem::Kind::loss;
};

std::array<Loss, 5> losses_of(const xray::SideRecord& record) {
  return {
      {{record.lost_overwritten, "overwritten by later ones in the ring", Problem::Kind::by_design},
       {record.lost_no_space, "without a buffer (size, disk or memory)"},
       {record.lost_reentrant, "made inside the recorder"},
       {record.lost_too_large, "too large for a buffer, or unreadable"},
       {record.lost_in_snapshot, "overwritten while the snapshot was written"}}};
}

void add_losses(const FoundSideRecord& side, ProblemLog& problems) {
  for (const Loss& loss : losses_of(side.record)) {
    if (loss.events == 0) continue;
    problems.add({loss.kind, 0, side.path, "SideRecord",
                  fmt::format("{} lost: {}", counted(loss.events, "event"), loss.reason), 0});
  }
  if (side.record.unrecorded_children != 0) {
    problems.add({Problem::Kind::loss, 0, side.path, "SideRecord",
                  unrecorded_processes_words(side.record.unrecorded_children,
                                             static_cast<int>(side.record.unrecorded_error)),
                  0});
  }
  if (side.record.clock_anomalies != 0) {
    problems.add({Problem::Kind::oddity, 0, side.path, "SideRecord",
                  "the clock went backwards " + counted(side.record.clock_anomalies, "time"), 0});
  }
}

std::string clock_words(const xray::SideRecord& record) {
  const std::string within =
      fmt::format(", within {:g} parts in a million", record.uncertainty_ppb / 1000.0);
  switch (record.frequency_source) {
    case xray::FrequencySource::exact:
      return "monotonic clock, in nanoseconds";
    case xray::FrequencySource::stated:
      return fmt::format("time stamp counter, {} Hz according to the processor{}",
                         record.cycle_frequency, within);
    case xray::FrequencySource::measured:
      return fmt::format("time stamp counter, {} Hz measured against the monotonic clock{}",
                         record.cycle_frequency, within);
    case xray::FrequencySource::unknown:
      break;
  }
  return fmt::format("{} Hz, of unknown precision", record.cycle_frequency);
}

std::string object_words(const xray::SideObject& object, size_t called) {
  std::string words = fmt::format("{}, build-id {}, at {:#x}", object.path,
                                  object.build_id.empty() ? "none" : object.build_id, object.begin);
  if (object.functions != 0)
    words += fmt::format(", {} with sleds", counted(object.functions, "function"));
  if (called != 0) words += fmt::format(", {} called", counted(called, "function"));
  return words;
}

std::string start_words(const xray::SideRecord& record) {
  return utc_words(static_cast<int64_t>(record.start_realtime_ns / 1'000'000'000));
}

// The name of the program, without its folder; empty if it is unknown.
std::string program_name(const xray::SideRecord& record) {
  const auto program = std::ranges::find_if(record.objects, &xray::SideObject::is_program);
  return program == record.objects.end() ? std::string()
                                         : std::filesystem::path(program->path).filename().string();
}

// "validate(int) from 13.4 ms on", by the names of a recording; at most kShownDropped of them.
std::string dropped_words(const RecordedNames& names, bool with_rates) {
  constexpr size_t kShownDropped = 10;
  const xray::SideRecord& record = names.record();
  const auto frequency = static_cast<double>(record.cycle_frequency);
  std::string words;
  for (const xray::SideDropped& dropped : record.dropped | std::views::take(kShownDropped)) {
    words += words.empty() ? "" : ", ";
    words += short_name(names.describe(FunctionId{dropped.id}).name);
    // In a forked child, or a later part, the time is before its start.
    const double since =
        dropped.time > record.start ? static_cast<double>(dropped.time - record.start) : 0;
    if (frequency > 0) words += fmt::format(" from {} on", show_duration(since * 1e9 / frequency));
    if (with_rates) {
      words += fmt::format(" ({} calls a second of {} each)", dropped.calls_a_second,
                           show_duration(static_cast<double>(dropped.call_ps) / 1000));
    }
  }
  if (record.dropped.size() > kShownDropped)
    words += fmt::format(" and {} more", record.dropped.size() - kShownDropped);
  return words;
}

// Functions that the option `auto` dropped, in `info` and in the messages of all verbs.
void tell_dropped(const RecordedNames& names, const std::string& path,
                  XrayRecording::FileContext& context, ProblemLog& problems) {
  const size_t count = names.record().dropped.size();
  if (count == 0) return;
  context.properties.emplace_back(
      "dropped",
      fmt::format("{} by --auto: {}", counted(count, "function"), dropped_words(names, true)));
  problems.add({Problem::Kind::by_design, 0, path, "SideRecord",
                fmt::format("--auto dropped {}: {}; later calls are missing, and their time is "
                            "their callers'",
                            counted(count, "function"), dropped_words(names, false)),
                0});
}

// A process that exits has survived its faults, if there were any.
bool has_exited(const xray::SideRecord& record) {
  return record.ended || record.end == xray::SideRecord::End::exit;
}
bool has_ended_by_fault(const xray::SideRecord& record) {
  return record.fault_thread != 0 && !has_exited(record) &&
         (record.end == xray::SideRecord::End::unknown || record.end_status == record.fault_signal);
}

// ", at address 0x10"; empty for signals that have none.
std::string fault_place(const xray::SideRecord& record) {
  const bool has_address = record.fault_signal == SIGSEGV || record.fault_signal == SIGBUS;
  return has_address ? fmt::format(", at address {:#x}", record.fault_address) : std::string();
}

// What ended the process, and where; empty if that is unknown.
std::string end_words(const xray::SideRecord& record) {
  using End = xray::SideRecord::End;
  const bool exited = has_exited(record);
  const bool faulted = has_ended_by_fault(record);
  if (record.end == End::unknown && !faulted) return {};
  std::string words;
  if (exited) {
    words = fmt::format("by exit, status {}", record.end_status);
  } else {
    words = "by " + signal_words(faulted ? record.fault_signal : record.end_status);
  }
  if (faulted) {
    words += fmt::format(" in thread {}", record.fault_thread);
    for (const auto& [tid, name] : record.threads | std::views::reverse) {
      if (tid != record.fault_thread) continue;
      words += fmt::format(" ({})", name);
      break;
    }
    words += fault_place(record);
  }
  if (record.end == End::unknown || record.end_monotonic_ns < record.start_monotonic_ns)
    return words;
  return words + fmt::format(", after {}; {} user and {} system time",
                             show_duration(static_cast<double>(record.end_monotonic_ns -
                                                               record.start_monotonic_ns)),
                             show_duration(static_cast<double>(record.user_ns)),
                             show_duration(static_cast<double>(record.system_ns)));
}

RecorderCost cost_of(const xray::SideRecord& record) {
  if (record.cycle_frequency == 0) return {};
  // Thousandths of a tick.
  const auto to_ps = [&](uint32_t thousandths) {
    return static_cast<uint64_t>(
        std::llround(thousandths * 1e9 / static_cast<double>(record.cycle_frequency)));
  };
  return {to_ps(record.cost_inside), to_ps(record.cost_outside)};
}

// The process of the trace's first buffer. Empty: the version does not say, or the buffer is
// damaged.
std::optional<uint32_t> first_process(Bytes trace) {
  const Result<xray::FileHeader> header = xray::read_file_header(trace);
  if (!header || header->type != xray::LogType::fdr || !xray::fdr_layout(header->version).has_pid)
    return std::nullopt;
  constexpr size_t kMostRecords = 8;  // of a buffer's preamble
  for (size_t i = 0; i < kMostRecords; ++i) {
    const size_t at = xray::kFileHeaderBytes + i * xray::kMetadataRecordBytes;
    if (at + xray::kMetadataRecordBytes > trace.size()) break;
    const auto first = static_cast<uint8_t>(trace[at]);
    if ((first & 1U) == 0) break;
    if (first >> 1U != static_cast<uint8_t>(xray::MetadataKind::pid)) continue;
    Cursor in(trace.subspan(at + 1, sizeof(uint32_t)), header->order);
    return in.read<uint32_t>("pid");
  }
  return std::nullopt;
}

std::optional<FoundSideRecord> find_side_record(const InputFile& trace, const InputLimits& limits,
                                                ProblemLog& problems) {
  const std::optional<std::string> path = find_path(trace.name());
  if (!path) return std::nullopt;
  const Result<InputFile> input = InputFile::open(*path, limits);
  Result<xray::SideRecord> record = input ? xray::read_side_record(input->bytes(), *path, problems)
                                          : std::unexpected(input.error());
  if (!record) {
    problems.add({Problem::Kind::corruption, record.error().offset.value_or(0), *path, "SideRecord",
                  record.error().detail + "; functions have no names", 0});
    return std::nullopt;
  }
  const std::optional<uint32_t> process = first_process(trace.bytes());
  if (process && record->pid != 0 && *process != record->pid) {
    problems.add(
        {Problem::Kind::corruption, kPidOffset, *path, "SideRecord",
         fmt::format("it is of process {}, but {} is of process {}; functions have no names",
                     record->pid, trace.name(), *process),
         0});
    return std::nullopt;
  }
  problems.merge(input->problems());
  FoundSideRecord found{*path, *std::move(record)};
  add_losses(found, problems);
  return found;
}

}  // namespace

bool numbers_twice(const xray::SideRecord& record) {
  std::set<std::tuple<std::string_view, std::string_view, uint64_t>> seen;
  for (const xray::SideFunction& function : record.functions) {
    if (function.object == xray::kNoObject) continue;
    const xray::SideObject& object = record.objects[function.object];
    if (!seen.emplace(object.path, object.build_id, function.address - object.load_bias).second)
      return true;
  }
  return false;
}

std::optional<std::string> side_record_of(const std::string& trace) { return find_path(trace); }

std::optional<std::string> missing_side_record(const InputFile& trace) {
  const Result<xray::FileHeader> header = xray::read_file_header(trace.bytes());
  if (!header || !header->recorder.parts || trace.name() == "-" || find_path(trace.name()))
    return std::nullopt;
  return trace.name() + std::string(kSuffix);
}

uint32_t process_beside(const InputFile& trace) {
  const Result<xray::FileHeader> header = xray::read_file_header(trace.bytes());
  if (!header || header->type != xray::LogType::fdr || xray::fdr_layout(header->version).has_pid)
    return 0;
  ProblemLog known;  // whoever reads the names has them
  const std::optional<FoundSideRecord> found = find_side_record(trace, {}, known);
  return found ? found->record.pid : 0;
}

std::string choice_words(std::string_view list) {
  std::string words;
  while (!list.empty()) {
    std::string_view glob = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(list.size(), glob.size() + 1));
    if (glob.empty()) continue;
    const bool excludes = glob.starts_with('!');
    if (excludes) glob.remove_prefix(1);
    words += fmt::format("{}{} '{}'", words.empty() ? "" : " ",
                         excludes ? "--without" : "--function", glob);
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> side_properties(const xray::SideRecord& record) {
  std::vector<std::pair<std::string, std::string>> properties;
  properties.emplace_back("recorder",
                          fmt::format("telltale, {}; {}",
                                      record.snapshot ? "snapshot"
                                      : record.ring   ? "ring"
                                                      : "continuous",
                                      record.stopped ? "stopped while the process ran on"
                                      : record.ended ? "the process ended by exit"
                                      : record.end == xray::SideRecord::End::signal
                                          ? "the process was ended by a signal"

                                      : record.end == xray::SideRecord::End::exit && record.snapshot
                                          ? "the process ran on"
                                      : record.end == xray::SideRecord::End::exit
                                          ? "the process ended without its exit handlers"
                                          : "the process had not ended, or did not end by exit"));
  properties.emplace_back("started", start_words(record));
  if (std::string ended = end_words(record); !ended.empty())
    properties.emplace_back("ended", std::move(ended));
  if (record.stopped && record.cycle_frequency != 0 && record.stop_time >= record.start) {
    properties.emplace_back(
        "stopped",
        fmt::format("after {}", show_duration(static_cast<double>(record.stop_time - record.start) *
                                              1e9 / static_cast<double>(record.cycle_frequency))));
  }
  if (record.part > 1) {
    properties.emplace_back(
        "part",
        fmt::format("recording {} of the process, which had stopped the one before", record.part));
  }
  if (record.parent_pid != 0)
    properties.emplace_back("forked by", fmt::format("process {}", record.parent_pid));
  properties.emplace_back("clock", clock_words(record));
  if (const RecorderCost cost = cost_of(record); cost.known()) {
    properties.emplace_back(
        "recorder's cost",
        fmt::format("{:.1f} ns inside and {:.1f} ns outside of each call, measured at the start",
                    static_cast<double>(cost.inside_ps) / 1000,
                    static_cast<double>(cost.outside_ps) / 1000));
  }
  std::vector<size_t> called(record.objects.size());
  for (const xray::SideFunction& function : record.functions) {
    if (function.object != xray::kNoObject) ++called[function.object];
  }
  constexpr size_t kShownObjects = 100;
  std::set<uint32_t> shown;  // an object that is loaded again keeps its number
  for (size_t i = 0; i < record.objects.size() && shown.size() < kShownObjects; ++i) {
    const xray::SideObject& object = record.objects[i];
    if (!shown.insert(object.number).second) continue;
    properties.emplace_back(fmt::format("object {}", object.number),
                            object_words(object, called[i]));
  }
  properties.emplace_back("loads", std::to_string(record.objects.size()));
  if (!record.names.empty())
    properties.emplace_back("names", "of " + counted(record.names.size(), "function") +
                                         ", needed if the program is gone or rebuilt");
  if (record.objects_may_be_missing)
    properties.emplace_back("loaded later", "objects may be missing");
  if (record.some_sleds_unpatched)
    properties.emplace_back("sleds", "some functions could not be patched");
  if (!record.chosen.empty())
    properties.emplace_back("chosen functions", choice_words(record.chosen));
  if (record.compared_linkage_names) {
    properties.emplace_back("patterns",
                            "--function and --without were compared with linkage names alone: the "
                            "process had no C++ library, whose __cxa_demangle tells other names");
  }
  uint64_t lost = 0;
  for (const Loss& loss : losses_of(record)) lost += loss.events;
  properties.emplace_back("lost", counted(lost, "event"));
  properties.emplace_back("left out", counted(record.left_out, "event") + " by filters");
  return properties;
}

Result<XraySideRecords> open_side_records(const std::vector<InputFile>& inputs,
                                          const OpenOptions& options, ProblemLog& problems) {
  XraySideRecords sides;
  std::vector<std::shared_ptr<const RecordedNames>> names;
  bool any = false;
  for (const InputFile& input : inputs) {
    XrayRecording::FileContext& context = sides.contexts.emplace_back();
    std::shared_ptr<const RecordedNames>& own = names.emplace_back();
    std::optional<FoundSideRecord> found = find_side_record(input, options.limits, problems);
    if (!found) {
      if (const auto missing = missing_side_record(input); missing && options.programs.empty()) {
        problems.add({Problem::Kind::oddity, xray::kRecorderMarkOffset, input.name(), "header",
                      *missing + ", which names functions and threads, is missing", 0});
      }
      continue;
    }
    any = true;
    context.has_side_record = true;
    context.properties = side_properties(found->record);
    context.pid = found->record.pid;
    context.begun = found->record.start;
    context.number = found->record.part;
    context.left_out = found->record.left_out;
    context.chosen = found->record.chosen;
    context.process_name = program_name(found->record);
    if (has_ended_by_fault(found->record)) {
      context.fault_thread = found->record.fault_thread;
      context.fault = signal_words(found->record.fault_signal) + fault_place(found->record);
    }
    context.thread_names = found->record.threads;
    context.cost = cost_of(found->record);
    auto opened = RecordedNames::open(std::move(found->record), options, problems);
    if (!opened) return std::unexpected(opened.error());
    own = *std::move(opened);
    sides.functions += own->record().functions.size();
    tell_dropped(*own, found->path, context, problems);
  }
  if (!any) return sides;
  if (inputs.size() == 1 && !numbers_twice(names.front()->record())) {
    sides.names = names.front();
    return sides;
  }
  auto merged = std::make_shared<MergedNames>();
  for (size_t i = 0; i < inputs.size(); ++i) sides.contexts[i].ids = merged->add(names[i]);
  sides.names = std::move(merged);
  return sides;
}

}  // namespace telltale
