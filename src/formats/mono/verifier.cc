#include "formats/mono/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "formats/mono/frames.h"

namespace telltale::mono {
namespace {

using Kind = Violation::Kind;

constexpr auto kKindNames = std::to_array<std::string_view>(
    {"torn_file", "stray_bytes", "wrong_length", "unreadable_event", "time_goes_back", "odd_moves",
     "unknown_value", "set_flags", "misplaced_event"});
static_assert(kKindNames.size() == Violation::kKinds);

constexpr uint64_t kNone = ~uint64_t{0};
constexpr auto kValueRules = std::to_array<ValueRule>({
    {EventKind::gc_event, "event", 0, 9, kNone, 1, 12},
    {EventKind::gc_event, "event", 0, 11, kNone, 13, kLastVersion},
    {EventKind::gc_event, "generation", 0, 2, kNone, 1, kLastVersion},
    {EventKind::gc_handle, "type", 0, 3, kNone, 1, kLastVersion},
    {EventKind::exception_clause, "type", 0, 4, 3, 1, kLastVersion},
    {EventKind::monitor, "action", 1, 3, kNone, 1, kLastVersion},
    {EventKind::heap_root_area, "source", 0, 16, kNone, 15, kLastVersion},
    {EventKind::jit_helper, "type", 0, 9, kNone, 8, 8},
    {EventKind::jit_helper, "type", 0, 10, kNone, 9, 13},
    {EventKind::jit_helper, "type", 0, 9, kNone, 14, kLastVersion},
    {EventKind::sync_point, "kind", 0, 2, kNone, 13, kLastVersion},
});

// Checks a file against the rules.
class Checker {
 public:
  Checker(Verdict& verdict, const Layout& layout, RecordSelector* selector)
      : verdict_(verdict), layout_(layout), selector_(selector) {}

  void begin_buffer(const BufferFrame& frame) {
    thread_ = &threads_[frame.header.thread];
    buffer_time_ = 0;
    late_ = {};
    if (selector_ != nullptr) selector_->begin_buffer(verdict_.header.pid, frame.header.thread);
    check_time(frame.offset, frame.header.time_base, "Buffer");
  }

  // Since version 13 the profiler's writer thread writes other threads' methods, and fills several
  // buffers at a time: a late buffer is not a violation, if it is in order itself.
  void end_buffer() {
    if (!thread_->tells_methods) {
      verdict_.counts[static_cast<size_t>(Kind::time_goes_back)] += late_.count;
      if (late_.first && (!verdict_.first || late_.first->offset < verdict_.first->offset))
        verdict_.first = std::move(late_.first);
    }
    thread_->last_time = std::max(thread_->last_time, buffer_time_);
  }

  void event(const EventHead& head, const Call& call) {
    if (!chosen(selector_ == nullptr || selector_->call(head.time, call))) return;
    check_time(head.offset, head.time, event_name(head.kind));
    thread_->foreign = false;
  }
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    if (!chosen(selector_ == nullptr || selector_->other(head.time))) return;
    // The times of these are taken by the thread that compiled or was sampled, and another thread
    // writes them; or, for counters, they are taken before the collection.
    constexpr bool kForeignTime = std::is_same_v<Record, Jit> ||
                                  std::is_same_v<Record, SampleHit> ||
                                  std::is_same_v<Record, Counters>;
    if constexpr (!kForeignTime) {
      if (layout_.events.has_time[head.first_byte] && !thread_->foreign)
        check_time(head.offset, head.time, event_name(head.kind));
    }
    thread_->foreign = kForeignTime;
    if constexpr (std::is_same_v<Record, Jit>)
      thread_->tells_methods |= layout_.every_event_has_time;
    check(head, record);
  }

  void report(Kind kind, uint64_t offset, std::string_view record, std::string message) {
    ++verdict_.counts[static_cast<size_t>(kind)];
    if (!verdict_.first || offset < verdict_.first->offset)
      verdict_.first = {kind, offset, std::string(record), std::move(message)};
  }

 private:
  struct Thread {
    uint64_t last_time = 0;      // in its buffers so far
    bool foreign = false;        // the previous event had the time of another thread
    bool tells_methods = false;  // the profiler's writer thread
    bool in_shot = false;
  };
  // An event earlier than the thread's previous buffers, but not earlier than its own buffer.
  struct Late {
    size_t count = 0;
    std::optional<Violation> first;
  };

  bool chosen(bool is_chosen) {
    verdict_.records += static_cast<uint64_t>(is_chosen);
    return is_chosen;
  }
  void check_time(uint64_t offset, uint64_t time, std::string_view record) {
    const uint64_t last = std::max(buffer_time_, thread_->last_time);
    const auto message = [&] {
      return fmt::format("is {} ns earlier than an event of its thread before it", last - time);
    };
    if (time < buffer_time_) {
      report(Kind::time_goes_back, offset, record, message());
    } else if (time < last && late_.count++ == 0) {
      late_.first = {Kind::time_goes_back, offset, std::string(record), message()};
    }
    buffer_time_ = std::max(buffer_time_, time);
  }
  void check_value(const EventHead& head, std::string_view field, uint64_t value) {
    for (const ValueRule& rule : kValueRules) {
      if (rule.event != head.kind || rule.field != field || layout_.version < rule.since ||
          layout_.version > rule.until)
        continue;
      if (value >= rule.first && value <= rule.last && value != rule.except) return;
      report(Kind::unknown_value, head.offset, event_name(head.kind),
             fmt::format("{} is {}; version {} knows {} to {}", field, value, layout_.version,
                         rule.first, rule.last));
    }
  }

  template <typename Record>
  void check(const EventHead&, const Record&) {}
  void check(const EventHead& head, const GcEvent& r) {
    check_value(head, "event", r.event);
    check_value(head, "generation", r.generation);
  }
  void check(const EventHead& head, const GcMove& r) {
    if (r.objects.size() % 2 == 0) return;
    report(Kind::odd_moves, head.offset, event_name(head.kind),
           fmt::format("{} addresses; old and new ones come in pairs", r.objects.size()));
  }
  void check(const EventHead& head, const GcHandle& r) { check_value(head, "type", r.type); }
  void check(const EventHead& head, const Clause& r) { check_value(head, "type", r.type); }
  void check(const EventHead& head, const Monitor& r) { check_value(head, "action", r.action); }
  void check(const EventHead& head, const HeapRootArea& r) {
    if (r.registered) check_value(head, "source", r.source);
  }
  void check(const EventHead& head, const JitHelper& r) { check_value(head, "type", r.type); }
  void check(const EventHead& head, const SyncPoint& r) { check_value(head, "kind", r.kind); }
  void check(const EventHead& head, const Metadata& r) {
    // In a conversion to a version before 13 it is known by its name.
    if (r.kind == MetadataKind::thread && r.name == "Profiler Writer")
      threads_[r.pointer].tells_methods = true;
    if (r.flags == 0) return;
    report(Kind::set_flags, head.offset, event_name(head.kind),
           fmt::format("flags are 0x{:x} and must be 0", r.flags));
  }
  void check(const EventHead& head, const HeapShot& r) {
    if (r.begin == thread_->in_shot) {
      report(Kind::misplaced_event, head.offset, event_name(head.kind),
             r.begin ? "begins inside another heap shot" : "ends, but none has begun");
    }
    thread_->in_shot = r.begin;
  }
  void check(const EventHead& head, const HeapObject&) {
    if (thread_->in_shot) return;
    report(Kind::misplaced_event, head.offset, event_name(head.kind), "is outside a heap shot");
  }

  Verdict& verdict_;
  const Layout& layout_;
  RecordSelector* selector_;
  std::map<uint64_t, Thread> threads_;
  Thread* thread_ = nullptr;
  uint64_t buffer_time_ = 0;  // the latest in this buffer
  Late late_;                 // of this buffer
};

Kind kind_of(const Problem& problem) {
  if (problem.kind == Problem::Kind::torn_tail) return Kind::torn_file;
  return problem.lost_bytes == 0 ? Kind::wrong_length : Kind::stray_bytes;
}

}  // namespace

std::string_view to_string(Violation::Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string to_string(const Violation& violation) {
  return fmt::format("{} at byte {}: {}", violation.record, violation.offset, violation.message);
}

std::span<const ValueRule> value_rules() { return kValueRules; }

Result<Verdict> verify_recording(Bytes file, RecordSelector* selector) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  Verdict verdict;
  verdict.header = *header;
  const BufferFrames frames = frame_file(file, *header, {});
  const Layout layout = find_layout(file, *header, frames);
  Checker checker(verdict, layout, selector);
  if (header->flags != 0) {
    checker.report(Kind::set_flags, 0, "FileHeader",
                   fmt::format("flags are 0x{:x} and must be 0", header->flags));
  }
  for (const Problem& problem : frames.problems.kept())
    checker.report(kind_of(problem), problem.offset, problem.record, problem.message);
  for (const BufferFrame& frame : frames.buffers) {
    checker.begin_buffer(frame);
    const DecodeEnd end =
        decode_buffer(frame.events(file), frame.header.bases(header->address_mask()), frame.begin,
                      layout, checker);
    checker.end_buffer();
    if (!end.error) continue;
    const bool torn = frame.torn && end.error->cause == Error::Cause::truncated;
    checker.report(torn ? Kind::torn_file : Kind::unreadable_event, end.offset, end.error->record,
                   end.error->detail);
  }
  return verdict;
}

}  // namespace telltale::mono
