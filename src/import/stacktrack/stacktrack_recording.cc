#include "import/stacktrack/stacktrack_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/utc_time.h"
#include "import/stacktrack/stacktrack_indexer.h"
#include "import/stacktrack/stacktrack_record_chooser.h"

namespace telltale {

using stacktrack::FormatDescription;
using stacktrack::RawTime;
using stacktrack::Record;
using stacktrack::RecordKind;
using stacktrack::Role;
using stacktrack::TimeForm;

namespace {

constexpr uint64_t kShardBytes = uint64_t{4} << 20;
constexpr uint64_t kNs = 1'000'000'000;

// Nanoseconds as a tick; clamps what is out of range (negative, not a number, too large).
Ticks to_tick(double ns) {
  if (!(ns > 0)) return 0;
  return ns < 1.8e19 ? static_cast<Ticks>(std::round(ns)) : std::numeric_limits<Ticks>::max();
}

// Counts the selected records.
struct KindCounter {
  StacktrackRecordChooser& chooser;
  std::map<std::string, uint64_t>& kinds;
  void record(const Record& record) {
    if (!chooser.keeps(record)) return;
    const auto kind = record.kind();
    ++kinds[kind ? std::string(tag_of(*kind)) : "other"];
  }
  void skipped(const stacktrack::SkippedBytes&) {}
};

// Two calibrations of one counter.
bool nearly_equal(uint64_t a, uint64_t b) {
  return std::max(a, b) - std::min(a, b) <= std::max(a, b) / 1000;
}

}  // namespace

Result<StacktrackRecording> StacktrackRecording::open(
    std::vector<InputFile> inputs, const std::optional<FormatDescription>& platform) {
  StacktrackRecording recording;
  recording.checkpoints_ = std::make_shared<StacktrackCheckpoints>();
  for (InputFile& input : inputs) {
    Result<stacktrack::StreamFormat> format = platform
                                                  ? stacktrack::recognise(input.bytes(), *platform)
                                                  : stacktrack::recognise(input.bytes());
    if (!format) {
      format.error().file = input.name();
      return std::unexpected(format.error());
    }
    recording.files_.push_back({std::move(input), std::move(*format), false, {}, {}});
  }
  Indexer indexer(recording);
  for (uint32_t i = 0; i < recording.files_.size(); ++i) indexer.add_file(i);
  indexer.finish();
  return recording;
}

Record StacktrackRecording::record_at(uint32_t file, uint64_t offset) const {
  const File& from = files_[file];
  const FormatDescription& description = from.format.description;
  return {description,
          from.input.bytes().subspan(static_cast<size_t>(offset), description.entry_size), offset};
}

bool StacktrackRecording::is_exit(const Record& record, uint32_t file) const {
  if (record.is_exit()) return true;
  const File& from = files_[file];
  const uint64_t number =
      (record.offset() - from.format.first_record) / from.format.description.entry_size;
  return number < from.exits.size() && from.exits[number];
}

std::string StacktrackRecording::text_of(const Record& hit, uint32_t file) const {
  if (!hit.has_info()) return {};
  const File& from = files_[file];
  if (const auto found = from.texts.find(hit.offset()); found != from.texts.end())
    return found->second;
  std::string text;
  const uint64_t entry = hit.raw().size();
  for (uint64_t at = hit.offset() + entry; at + entry <= from.input.bytes().size(); at += entry) {
    const Record info = record_at(file, at);
    if (!info.is(RecordKind::info)) break;
    text += info.text();
    if (info.info_end()) break;
  }
  return text;
}

// --- time

void StacktrackRecording::choose_clock() {
  std::set<uint64_t> frequencies;
  raw_ticks_ = true;
  for (const ProcessTime& process : processes_) {
    if (!process.divisor) continue;
    const FormatDescription& description = files_[process.file].format.description;
    const auto divisor = stacktrack::to_ticks(*process.divisor, description);
    if (!divisor) {
      raw_ticks_ = false;
    } else if (*divisor != 0) {
      frequencies.insert(*divisor);
    }
  }
  for (const File& file : files_)
    raw_ticks_ = raw_ticks_ && file.format.description.time_form != TimeForm::real;
  if (raw_ticks_ && !frequencies.empty() &&
      !nearly_equal(*frequencies.begin(), *frequencies.rbegin()))
    raw_ticks_ = false;
  bool any_start = false;
  for (const ProcessTime& process : processes_) {
    if (!process.start_hires) continue;
    first_start_ = any_start ? std::min(first_start_, process.start) : process.start;
    any_start = true;
  }
  clock_ = raw_ticks_ ? Clock{"ticks", frequencies.empty() ? 0 : *frequencies.rbegin()}
                      : Clock{"nanoseconds", kNs};
  // From the first event to the last, as in all formats: a sink may be open long before. Without
  // events, when it was opened.
  first_time_ = std::numeric_limits<Ticks>::max();
  const auto extend = [this](const std::optional<RawTime>& time, uint32_t process) {
    if (!time) return;
    const Ticks ticks = to_ticks(*time, processes_[process].file, process);
    first_time_ = std::min(first_time_, ticks);
    last_time_ = std::max(last_time_, ticks);
  };
  bool any_hit = false;
  for (uint32_t i = 0; i < processes_.size(); ++i) {
    any_hit = any_hit || processes_[i].first_hit;
    extend(processes_[i].first_hit, i);
    extend(processes_[i].last_hit, i);
  }
  for (uint32_t i = 0; i < processes_.size(); ++i)
    if (!any_hit) extend(processes_[i].start_hires, i);
  first_time_ = std::min(first_time_, last_time_);
}

Ticks StacktrackRecording::to_ticks(RawTime time, uint32_t file, uint32_t number) const {
  const FormatDescription& description = files_[file].format.description;
  const auto ticks = stacktrack::to_ticks(time, description);
  if (raw_ticks_) return ticks.value_or(0);
  const ProcessTime& process = processes_[number];
  if (ticks) {
    const auto divisor =
        process.divisor ? stacktrack::to_ticks(*process.divisor, description) : std::nullopt;
    return Clock{"ticks", divisor.value_or(kNs)}.to_ns(*ticks);
  }
  double divisor = 1;
  double start = 0;
  double shift = 0;  // offset between processes, to whole seconds
  if (process.divisor) divisor = stacktrack::to_double(*process.divisor, description);
  if (process.start_hires) {
    start = stacktrack::to_double(*process.start_hires, description);
    shift = static_cast<double>(process.start) - static_cast<double>(first_start_);
  }
  if (!(divisor > 0)) divisor = 1;
  return to_tick(((stacktrack::to_double(time, description) - start) / divisor + shift) * 1e9);
}

// --- order

// Files follow each other in time: a folder, or a shell's pattern, has the tenth file of a process
// before its second.
void StacktrackRecording::make_shards(Thread& thread) const {
  std::map<uint32_t, uint64_t> begins;  // the first reading of the clock by file, if it has one
  for (const Run& run : thread.runs) {
    if (run.low_time_held) continue;
    uint64_t& first = begins.try_emplace(run.file, run.low_time).first->second;
    first = std::min(first, run.low_time);
  }
  const auto place = [&](const Run& run) {
    const auto begin = begins.find(run.file);
    return std::pair(begin == begins.end() ? 0 : begin->second, run.file);
  };
  std::ranges::stable_sort(thread.runs, [&](const Run& a, const Run& b) {
    if (a.file != b.file) return place(a) < place(b);
    return files_[a.file].sorted_by_sequence ? a.low_sequence < b.low_sequence : a.begin < b.begin;
  });
  Shard shard;
  uint64_t bytes = 0;
  uint64_t high = 0;
  for (size_t i = 0; i < thread.runs.size(); ++i) {
    const Run& run = thread.runs[i];
    const bool sorted = files_[run.file].sorted_by_sequence;
    const bool new_file = i != 0 && thread.runs[i - 1].file != run.file;
    const bool overlaps = !new_file && sorted && i != shard.first_run && run.low_sequence <= high;
    // A shard begins with a reading of the clock, and all of its events precede the next shard's.
    if (bytes >= kShardBytes && !overlaps && !run.low_time_held) {
      shard.last_run = i;
      shard.next_time = new_file ? std::nullopt : std::optional(run.low_time);
      thread.shards.push_back(shard);
      shard = {.first_run = i, .last_run = i, .in_order = true, .next_time = {}};
      bytes = 0;
      high = 0;
    }
    shard.in_order = shard.in_order && !overlaps && (run.in_order || !sorted);
    bytes += run.end - run.begin;
    high = new_file ? run.high_sequence : std::max(high, run.high_sequence);
  }
  if (thread.runs.empty()) return;
  shard.last_run = thread.runs.size();
  thread.shards.push_back(shard);
}

uint64_t StacktrackRecording::shard_bytes(size_t stream, size_t shard_index) const {
  const Thread& thread = threads_[stream];
  const Shard& shard = thread.shards[shard_index];
  uint64_t bytes = 0;
  for (size_t i = shard.first_run; i < shard.last_run; ++i)
    bytes += thread.runs[i].end - thread.runs[i].begin;
  return bytes;
}

std::vector<StacktrackRecording::Place> StacktrackRecording::places_of(size_t stream,
                                                                       const Shard& shard) const {
  const Thread& thread = threads_[stream];
  const ThreadKey& key = streams_[stream].thread;
  std::vector<Place> places;
  for (size_t i = shard.first_run; i < shard.last_run; ++i) {
    const Run& run = thread.runs[i];
    const uint64_t entry = files_[run.file].format.description.entry_size;
    for (uint64_t at = run.begin; at < run.end; at += entry) {
      const Record record = record_at(run.file, at);
      if (!record.is(RecordKind::hit) || record.pid() != static_cast<uint64_t>(key.pid) ||
          record.number(RecordKind::hit, Role::thread_id) != static_cast<uint64_t>(key.tid))
        continue;
      if (run.repeated_to != 0 && record.sequence() <= run.repeated_to) continue;
      places.push_back({record.sequence(), at, run.file});
    }
  }
  // Runs are in the order of their files.
  for (auto begin = places.begin(); !shard.in_order && begin != places.end();) {
    const auto end = std::find_if(begin, places.end(), [file = begin->file](const Place& other) {
      return other.file != file;
    });
    std::ranges::stable_sort(begin, end, {}, &Place::sequence);
    begin = end;
  }
  return places;
}

std::vector<Ticks> StacktrackRecording::times_of(const std::vector<Place>& places,
                                                 const Shard& shard, uint32_t process) const {
  std::vector<Ticks> times(places.size());
  size_t held_from = 0;  // events since the last reading
  const auto spread = [&](size_t end, std::optional<Ticks> next) {
    const size_t held = end - held_from;
    if (held_from == 0 || held == 0 || !next) return;
    const Ticks before = times[held_from - 1];
    if (*next <= before) return;
    const Ticks span = *next - before;
    // Adds one part at a time: span * i could exceed 64 bits.
    for (size_t i = 1; i <= held; ++i) {
      times[held_from + i - 1] =
          before + span / (held + 1) * i + span % (held + 1) * i / (held + 1);
    }
  };
  for (size_t i = 0; i < places.size(); ++i) {
    const Record record = record_at(places[i].file, places[i].offset);
    times[i] = to_ticks(record.time(RecordKind::hit, Role::when), places[i].file, process);
    if (record.held_time()) continue;
    spread(i, times[i]);
    held_from = i + 1;
  }
  if (shard.next_time && raw_ticks_) spread(places.size(), shard.next_time);
  return times;
}

// --- info

StacktrackRecording::Chosen StacktrackRecording::choose(RecordFilter& filter) const {
  Chosen chosen;
  chosen.hits.resize(files_.size());
  bool any = false;
  for (size_t s = 0; s < streams_.size(); ++s) {
    const uint32_t process = threads_[s].process;
    RecordFilter::Thread& thread = filter.thread(streams_[s].thread);
    if (!thread.kept()) continue;
    Ticks latest = 0;
    for (const Shard& shard : threads_[s].shards) {
      const std::vector<Place> places = places_of(s, shard);
      const std::vector<Ticks> times = times_of(places, shard, process);
      for (size_t i = 0; i < places.size(); ++i) {
        const Record hit = record_at(places[i].file, places[i].offset);
        latest = std::max(latest, times[i]);
        if (!keeps(hit, places[i], latest, process, thread)) continue;
        chosen.hits[places[i].file].push_back(places[i].offset);
        chosen.first = any ? std::min(chosen.first, latest) : latest;
        chosen.last = std::max(chosen.last, latest);
        any = true;
      }
    }
  }
  for (std::vector<uint64_t>& hits : chosen.hits) std::ranges::sort(hits);
  return chosen;
}

bool StacktrackRecording::keeps(const Record& hit, const Place& place, Ticks time, uint32_t process,
                                RecordFilter::Thread& thread) const {
  const FunctionId id = checkpoint_of(hit, place, process);
  if (checkpoints_->kind(id) != CheckpointKind::scope) return thread.other(time);
  return is_exit(hit, place.file) ? thread.leave(time, id, LeaveKind::normal)
                                  : thread.enter(time, id);
}

FunctionId StacktrackRecording::checkpoint_of(const Record& hit, const Place& place,
                                              uint32_t process) const {
  return checkpoints_->find(process, hit.number(RecordKind::hit, Role::scope_index),
                            {place.file, place.offset});
}

RecordingInfo StacktrackRecording::info(size_t /*workers*/, const CallFilter& filter) const {
  RecordingInfo info;
  const FormatDescription& description = files_.front().format.description;
  info.format = "stacktrack";
  info.version = std::to_string(description.version);
  for (const File& file : files_) {
    info.files.push_back(file.input.name());
    info.bytes += file.input.bytes().size();
  }
  info.properties = {
      {"layout",
       fmt::format("{}, records of {} bytes", layout_name(description), description.entry_size)},
      {"byte order", description.order == std::endian::little ? "little-endian" : "big-endian"},
      {"clock", clock_.known() ? fmt::format("{} ticks a second", clock_.ticks_per_second)
                               : "unknown; ticks are shown as nanoseconds"}};
  if (sparse_clock_ > 1)
    info.properties.emplace_back("clock read", fmt::format("on every {}th event", sparse_clock_));
  if (first_start_ > 0) info.properties.emplace_back("started", utc_words(first_start_));
  for (const auto& [process, program] : programs_)
    info.properties.emplace_back("program " + process, program);
  info.properties.emplace_back("checkpoints", std::to_string(checkpoints_->size()));
  if (cycles_ > 1) info.properties.emplace_back("write cycles", std::to_string(cycles_));
  if (file_properties_ != 0)
    info.properties.emplace_back("file properties", std::to_string(file_properties_));
  if (overwritten_ != 0)
    info.properties.emplace_back("left out", fmt::format("{} records of chunks that the ring was "
                                                         "using again",
                                                         overwritten_));
  if (!files_.front().input.compression().empty())
    info.properties.emplace_back("compression", files_.front().input.compression());
  info.clock = clock_;
  info.problems = problems_;
  for (const EventStream& stream : streams_) {
    if (filter.keeps_thread(stream.thread)) info.threads.push_back(stream.thread);
  }
  info.first_time = first_time_;
  info.last_time = last_time_;
  std::map<std::string, uint64_t> kinds = kinds_;
  if (!filter.keeps_everything()) {
    RecordFilter records(filter, clock_, first_time_, *checkpoints_);
    const Chosen chosen = choose(records);
    kinds.clear();
    for (size_t i = 0; i < files_.size(); ++i) {
      StacktrackRecordChooser chooser(chosen.hits[i], chooses_context(filter));
      KindCounter counter{chooser, kinds};
      stacktrack::walk_stream(files_[i].input.bytes(), files_[i].format, counter);
    }
    info.first_time = chosen.first;
    info.last_time = chosen.last;
  }
  for (const auto& [kind, count] : kinds) {
    info.records_by_kind.emplace_back(kind, count);
    info.records += count;
  }
  return info;
}

static_assert(EventSource<StacktrackRecording>);

}  // namespace telltale
