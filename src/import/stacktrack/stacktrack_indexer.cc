#include "import/stacktrack/stacktrack_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include "base/counted.h"
#include "base/unrecorded_processes.h"
#include "formats/stacktrack/wire.h"
#include "model/thread_text.h"

namespace telltale {

using stacktrack::LostReason;
using stacktrack::Record;
using stacktrack::RecordKind;
using stacktrack::Role;

namespace {

// Maximum length of a run, so that runs combine to shards of a useful size.
constexpr uint64_t kRunBytes = uint64_t{256} << 10;
// Maximum number of other threads' records between two of a run: skipping them is cheaper than an
// index entry.
constexpr uint64_t kMaxBetween = 16;
constexpr std::string_view kLossVariable = "telltale.lost.";
constexpr std::string_view kOverwritten = "overwritten";  // kLossVariable + this

std::string loss_text(uint64_t reason, uint64_t count) {
  static constexpr std::array<std::string_view, stacktrack::kLostReasons> kTexts = {
      "events, for lack of space (disk, memory, or chunks of a ring)",
      "events, overwritten by later ones in the ring",
      "events made inside the recorder itself",
      "events with an id that does not fit the layout",
      "ends of texts",
      "names and locations of checkpoints, for lack of space",
      "forked processes"};
  if (reason == 0 || reason > kTexts.size())
    return fmt::format("the recorder lost {} for reason {}", counted(count, "event"), reason);
  if (reason == static_cast<uint64_t>(stacktrack::LostReason::cut_text))
    return "the recorder truncated " + counted(count, "text");
  if (reason == static_cast<uint64_t>(stacktrack::LostReason::processes))
    return unrecorded_processes_words(count, 0);
  return fmt::format("the recorder lost {} {}", count, kTexts[reason - 1]);
}

// The same for a loss that is named, as in the classic layout.
std::string loss_text(std::string_view reason, uint64_t count) {
  static constexpr std::array<std::string_view, stacktrack::kLostReasons> kNames = {
      "no_space", "overwritten", "reentered", "unfit", "cut_text", "names", "processes"};
  const auto* const known = std::ranges::find(kNames, reason);
  if (known != kNames.end())
    return loss_text(static_cast<uint64_t>(known - kNames.begin()) + 1, count);
  return fmt::format("the recorder lost {} ({})", count, reason);
}

bool is_less(stacktrack::RawTime a, stacktrack::RawTime b,
             const stacktrack::FormatDescription& description) {
  const auto x = stacktrack::to_ticks(a, description);
  const auto y = stacktrack::to_ticks(b, description);
  if (x && y) return *x < *y;
  return stacktrack::to_double(a, description) < stacktrack::to_double(b, description);
}

// A ring overwrites its oldest events: that is by design.
Problem::Kind loss_kind(bool overwritten) {
  return overwritten ? Problem::Kind::by_design : Problem::Kind::loss;
}

uint64_t to_count(std::string_view text) {
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

}  // namespace

void StacktrackRecording::Indexer::problem(Problem::Kind kind, const Record& record,
                                           std::string message, uint64_t bytes) {
  const stacktrack::TypeLayout* type = record.type();
  recording_.problems_.add({kind, record.offset(), recording_.files_[file_].input.name(),
                            type == nullptr ? "record" : type->tag, std::move(message), bytes});
}

void StacktrackRecording::Indexer::add_file(uint32_t index) {
  file_ = index;
  File& file = recording_.files_[index];
  recording_.problems_.merge(file.input.problems());
  ring_ = {};
  exits_ = {};
  has_holes_ = false;
  parts_of_file_.clear();
  part_ = nullptr;
  thread_ = nullptr;
  const auto tell_whole = [this](const Record& head, std::string_view text, Ending ending,
                                 bool adjoining) { whole(head, text, ending, adjoining); };
  stacktrack::walk_stream(file.input.bytes(), file.format, *this);
  texts_.finish(tell_whole);
  file.sorted_by_sequence =
      file.format.description.has(RecordKind::stream) || exits_.marked() || has_holes_;
}

void StacktrackRecording::Indexer::skipped(const stacktrack::SkippedBytes& skipped) {
  const InputFile& input = recording_.files_[file_].input;
  if (is_damage(skipped.reason)) {
    recording_.problems_.add(problem_of(skipped, input.name()));
  } else if (skipped.offset + skipped.bytes.size() != input.bytes().size()) {
    has_holes_ = true;
  }
}

void StacktrackRecording::Indexer::record(const Record& record) {
  const auto kind = record.kind();
  kind ? ++kinds_[static_cast<size_t>(*kind)] : ++other_kinds_;
  if (!ring_.keeps(record)) {
    ++overwritten_;
    return;
  }
  const bool exit = exits_.is_exit(record);
  if (kind == RecordKind::hit) hit(record, exit);
  texts_.feed(
      record,
      [this](const Record& head, std::string_view text, Ending ending, bool adjoining) {
        whole(head, text, ending, adjoining);
      },
      [this](const Record& orphan) {
        problem(Problem::Kind::loss, orphan, "text of a record that is missing from the stream",
                orphan.raw().size());
      });
}

// Remembers an exit that the record itself does not mark.
void StacktrackRecording::Indexer::mark_exit(const Record& record) {
  File& file = recording_.files_[file_];
  const uint64_t number =
      (record.offset() - file.format.first_record) / file.format.description.entry_size;
  if (file.exits.empty())
    file.exits.resize(file.input.bytes().size() / file.format.description.entry_size + 1);
  file.exits[number] = true;
}

void StacktrackRecording::Indexer::hit(const Record& record, bool exit) {
  Part& part = part_of(record);
  const auto tid = static_cast<int64_t>(record.number(RecordKind::hit, Role::thread_id));
  if (thread_ == nullptr || tid_ != tid) {
    thread_ = &part.threads[tid];
    tid_ = tid;
  }
  const uint64_t scope = record.number(RecordKind::hit, Role::scope_index);
  if (exit && !record.is_exit()) mark_exit(record);
  recording_.checkpoints_->hit(part.number, scope, exit, record.has_info());
  note_time(record);
  extend_run(record);
}

StacktrackRecording::Indexer::Part& StacktrackRecording::Indexer::part_of(const Record& record) {
  const auto pid = static_cast<int64_t>(record.pid());
  if (part_ != nullptr && part_->facts.pid == pid) return *part_;
  Part*& part = parts_of_file_[pid];
  if (part == nullptr) {
    part = &parts_.emplace_back();
    part->number = static_cast<uint32_t>(parts_.size() - 1);
    part->facts.pid = pid;
    part->facts.file = file_;
    part->facts.series = series_of(recording_.files_[file_].input.name());
    part->time.file = file_;
  }
  part_ = part;
  thread_ = nullptr;
  return *part;
}

void StacktrackRecording::Indexer::note_time(const Record& record) {
  const stacktrack::FormatDescription& description = record.description();
  const stacktrack::RawTime time = record.time(RecordKind::hit, Role::when);
  if (!thread_->first_hit || is_less(time, *thread_->first_hit, description))
    thread_->first_hit = time;
  if (!thread_->last_hit || is_less(*thread_->last_hit, time, description))
    thread_->last_hit = time;
}

void StacktrackRecording::Indexer::extend_run(const Record& record) {
  const uint64_t sequence = record.sequence();
  const uint64_t entry = record.raw().size();
  const auto reading =
      stacktrack::to_ticks(record.time(RecordKind::hit, Role::when), record.description());
  if (reading && !record.held_time()) {
    // A signal handler's HIT may follow a later one; its sequence number is then lower, too.
    if (!thread_->runs.empty() && *reading < thread_->last_reading &&
        sequence >= thread_->last_sequence)
      problem(Problem::Kind::oddity, record, "the clock goes backwards", 0);
    thread_->last_reading = *reading;
    thread_->last_sequence = sequence;
  }
  if (!thread_->runs.empty()) {
    Run& run = thread_->runs.back();
    if (record.offset() - run.end <= kMaxBetween * entry &&
        record.offset() - run.begin < kRunBytes) {
      run.in_order = run.in_order && sequence >= run.high_sequence;
      if (sequence < run.low_sequence) {
        run.low_sequence = sequence;
        run.low_time = reading.value_or(0);
        run.low_time_held = record.held_time();
      }
      run.high_sequence = std::max(run.high_sequence, sequence);
      run.end = record.offset() + entry;
      return;
    }
  }
  thread_->runs.push_back({.begin = record.offset(),
                           .end = record.offset() + entry,
                           .low_sequence = sequence,
                           .high_sequence = sequence,
                           .low_time = reading.value_or(0),
                           .low_time_held = record.held_time(),
                           .in_order = true,
                           .file = file_});
}

void StacktrackRecording::Indexer::whole(const Record& head, std::string_view text, Ending ending,
                                         bool adjoining) {
  if (ending == Ending::cut) {
    problem(Problem::Kind::torn_tail, head, "the end of its text is missing from the stream");
  }
  const auto kind = head.kind();
  if (!kind) return;
  const uint32_t part = part_of(head).number;
  const StacktrackCheckpoints::Place place{file_, head.offset()};
  switch (*kind) {
    case RecordKind::hit: {
      if (ending == Ending::no_text) return;
      if (ending == Ending::cut || !adjoining)
        recording_.files_[file_].texts.emplace(head.offset(), text);
      if (variable_losses_.empty()) return;
      const auto loss =
          variable_losses_.find({part, head.number(RecordKind::hit, Role::scope_index)});
      if (loss == variable_losses_.end()) return;
      loss->second.count = to_count(text);
      loss->second.offset = head.offset();
      loss->second.file = file_;
      return;
    }
    case RecordKind::file_location:
      recording_.checkpoints_->name_file(part,
                                         head.number(RecordKind::file_location, Role::file_number),
                                         place, std::string(text));
      return;
    case RecordKind::file_property:
      if (!name_thread(head, text)) ++recording_.file_properties_;
      return;
    case RecordKind::source_location: {
      const uint64_t scope = head.number(RecordKind::source_location, Role::scope_index);
      if (text.starts_with(kLossVariable))
        variable_losses_[{part, scope}].name = text.substr(kLossVariable.size());
      recording_.checkpoints_->define(
          part, scope,
          {.place = place,
           .style = head.number(RecordKind::source_location, Role::style),
           .line = head.number(RecordKind::source_location, Role::line),
           .file_number = head.number(RecordKind::source_location, Role::file_number),
           .name = std::string(text)});
      return;
    }
    case RecordKind::process_info:
      if (!text.empty()) part_of(head).facts.program = std::string(text);
      process_record(head);
      return;
    case RecordKind::lost:
      lost(head);
      return;
    case RecordKind::time_info:
    case RecordKind::time_type:
      process_record(head);
      return;
    case RecordKind::prologue:
    case RecordKind::stream:
    case RecordKind::info:
      return;
  }
}

// Of a property of the form of wire.h, "telltale.thread.TID=NAME"; false: it is another one.
bool StacktrackRecording::Indexer::name_thread(const Record& record, std::string_view property) {
  constexpr std::string_view kBegin = stacktrack::kThreadProperty;
  if (!property.starts_with(kBegin)) return false;
  const std::string_view number = property.substr(kBegin.size());
  int64_t tid = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tid);
  if (error != std::errc() || end == number.data() + number.size() || *end != '=') return false;
  auto& [sequence, name] = part_of(record).thread_names[tid];
  if (record.sequence() < sequence) return true;
  sequence = record.sequence();
  name = std::string(end + 1, number.data() + number.size());
  return true;
}

void StacktrackRecording::Indexer::process_record(const Record& record) {
  Part& part = part_of(record);
  ProcessTime& process = part.time;
  if (record.is(RecordKind::process_info)) {
    const uint64_t cycle = record.number(RecordKind::process_info, Role::write_count);
    if (part.facts.first_cycle == 0) part.facts.first_cycle = cycle;
    part.facts.last_cycle = std::max(part.facts.last_cycle, cycle);
    recording_.cycles_ = std::max(recording_.cycles_, cycle);
    recording_.sparse_clock_ = std::max(recording_.sparse_clock_,
                                        record.number(RecordKind::process_info, Role::clock_every));
    return;
  }
  if (record.is(RecordKind::time_type)) {
    process.divisor = record.time(RecordKind::time_type, Role::divisor);
    process.time_type = record.number(RecordKind::time_type, Role::time_type);
    return;
  }
  // Later cycles record their start time.
  const stacktrack::RawTime start = record.time(RecordKind::time_info, Role::start_hires);
  if (!process.start_hires || is_less(start, *process.start_hires, record.description())) {
    process.start_hires = start;
    process.start = static_cast<int64_t>(record.number(RecordKind::time_info, Role::start));
    process.start_ns = record.number(RecordKind::time_info, Role::start_ns);
  }
}

void StacktrackRecording::Indexer::lost(const Record& record) {
  const uint64_t count = record.number(RecordKind::lost, Role::count);
  if (count == 0) return;
  const uint64_t reason = record.number(RecordKind::lost, Role::reason);
  problem(loss_kind(reason == static_cast<uint64_t>(LostReason::overwritten)), record,
          loss_text(reason, count));
}

// What number_processes() has to know of a part whose file was read.
void StacktrackRecording::Indexer::finish_facts(Part& part) const {
  const stacktrack::FormatDescription& description =
      recording_.files_[part.time.file].format.description;
  // Parts are sorted by these, so they must be comparable.
  const auto number = [&](const std::optional<stacktrack::RawTime>& time) {
    const double ticks = time ? stacktrack::to_double(*time, description) : 0;
    return std::isnan(ticks) ? 0 : ticks;
  };
  part.facts.start = number(part.time.start_hires);
  part.facts.ticks_per_ms = number(part.time.divisor) / 1000;
  for (const auto& [tid, thread] : part.threads)
    part.facts.threads[tid] = {number(thread.first_hit), number(thread.last_hit)};
}

void StacktrackRecording::Indexer::join(const Part& part, ProcessTime& process) const {
  const ProcessTime& time = part.time;
  const stacktrack::FormatDescription& description =
      recording_.files_[time.file].format.description;
  process.file = time.file;
  // Each file has its own calibration: which one counts must not depend on their order.
  if (time.divisor && (!process.divisor || is_less(*process.divisor, *time.divisor, description))) {
    process.divisor = time.divisor;
  }
  if (time.start_hires &&
      (!process.start_hires || is_less(*process.start_hires, *time.start_hires, description))) {
    process.start_hires = time.start_hires;
    process.start = time.start;
  }
  for (const auto& [tid, thread] : part.threads) {
    if (!process.first_hit || is_less(*thread.first_hit, *process.first_hit, description))
      process.first_hit = thread.first_hit;
    if (!process.last_hit || is_less(*process.last_hit, *thread.last_hit, description))
      process.last_hit = thread.last_hit;
  }
}

// Makes processes and threads of the files' parts.
void StacktrackRecording::Indexer::join_parts() {
  std::vector<StacktrackPart> facts;
  facts.reserve(parts_.size());
  for (Part& part : parts_) {
    finish_facts(part);
    facts.push_back(std::move(part.facts));
  }
  const StacktrackProcesses numbered = number_processes(
      facts, [&](size_t a, size_t b) { return share_hits(parts_[a], parts_[b], facts[a].pid); });
  recording_.checkpoints_->finish(numbered.of_parts);
  recording_.processes_.resize(numbered.among_pid.size());
  std::vector<std::string> programs(recording_.processes_.size());
  std::map<ThreadKey, Thread> threads;
  std::map<ThreadKey, std::pair<uint64_t, std::string>> names;
  for (Part& part : parts_) {
    const uint32_t process = numbered.of_parts[part.number];
    const StacktrackPart& of_part = facts[part.number];
    join(part, recording_.processes_[process]);
    if (!of_part.program.empty()) programs[process] = of_part.program;
    const auto key_of = [&](int64_t tid) {
      return ThreadKey{of_part.pid, tid, numbered.among_pid[process]};
    };
    for (auto& [tid, thread] : part.threads) {
      Thread& whole = threads[key_of(tid)];
      whole.process = process;
      std::ranges::move(thread.runs, std::back_inserter(whole.runs));
    }
    for (auto& [tid, name] : part.thread_names) {
      auto& known = names[key_of(tid)];
      // Files may be given in any order.
      if (name.first >= known.first) known = name;
    }
  }
  // The program's name, or, in the classic layout, which has no place for it, the first thread's,
  // as ps shows it. Empty: unknown.
  const auto process_name = [&](const ThreadKey& thread, uint32_t process) {
    if (!programs[process].empty())
      return std::filesystem::path(programs[process]).filename().string();
    return names[{thread.pid, thread.pid, thread.process}].second;
  };
  for (auto& [key, thread] : threads) {
    drop_repeated(thread.runs, key);
    recording_.streams_.push_back({.thread = key,
                                   .thread_name = names[key].second,
                                   .process_name = process_name(key, thread.process)});
    recording_.threads_.push_back(std::move(thread));
  }
  std::map<uint32_t, std::string> words;
  for (size_t i = 0; i < facts.size(); ++i) {
    const uint32_t process = numbered.of_parts[i];
    recording_.among_pid_[{facts[i].file, facts[i].pid}] = numbered.among_pid[process];
    words[process] = process_text({facts[i].pid, 0, numbered.among_pid[process]});
  }
  for (const auto& [process, name] : words)
    if (!programs[process].empty()) recording_.programs_.emplace_back(name, programs[process]);
}

void StacktrackRecording::Indexer::finish() {
  for (const auto& [key, loss] : variable_losses_) {
    if (loss.count == 0) continue;
    recording_.problems_.add({loss_kind(loss.name == kOverwritten), loss.offset,
                              recording_.files_[loss.file].input.name(), "HIT",
                              loss_text(loss.name, loss.count), 0});
  }
  join_parts();
  recording_.choose_clock();
  for (Thread& thread : recording_.threads_) recording_.make_shards(thread);
  for (size_t i = 0; i < recording_.streams_.size(); ++i)
    recording_.streams_[i].shards = recording_.threads_[i].shards.size();
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] != 0)
      recording_.kinds_[std::string(tag_of(static_cast<RecordKind>(i)))] = kinds_[i];
  }
  if (other_kinds_ != 0) recording_.kinds_["other"] = other_kinds_;
  recording_.overwritten_ = overwritten_;
}

}  // namespace telltale
