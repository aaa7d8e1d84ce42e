#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <type_traits>
#include <vector>

#include "formats/mono/field_writer.h"
#include "formats/mono/frames.h"
#include "formats/mono/writer.h"

namespace telltale::mono {
namespace {

using Reason = ConversionLoss::Reason;

constexpr auto kLossTexts = std::to_array<std::string_view>({
    "names of the program, its machine and its command port cannot be represented; dropped",
    "loads other than classes, images and threads' names, and module ids, cannot be represented; "
    "dropped",
    "handles and finalizations cannot be represented; dropped",
    "heap roots cannot be represented; dropped",
    "samples and native symbols cannot be represented; dropped",
    "counters cannot be represented; dropped",
    "code of the runtime cannot be represented; dropped",
    "coverage cannot be represented; dropped",
    "sync points, AOT ids and steps of collector locks cannot be represented; dropped",
    "events lost a part: offsets of references and code, generations, kinds of roots and samples, "
    "or exceptions' objects",
    "objects have a type that the recording does not define; its address is kept",
});
static_assert(kLossTexts.size() == ConversionLoss::kReasons);

// Vtables by address.
struct TypeMap {
  std::map<uint64_t, uint64_t> class_of;
  void event(const EventHead&, const Metadata& r) {
    if (r.kind == MetadataKind::vtable) class_of[r.pointer] = r.type;
  }
};

// Where the events of one buffer come from.
struct BufferOrigin {
  BufferBases bases;
  uint64_t thread = 0;
  uint64_t first_time = 0;  // the earliest time base of all buffers
};

// Writes the events of one buffer in another version. Events that it cannot express are counted.
class EventConverter {
 public:
  EventConverter(const Layout& from, const Layout& to, const BufferOrigin& origin,
                 const std::map<uint64_t, uint64_t>& class_of,
                 std::map<uint64_t, bool>& vtables_written, ConversionLoss& loss, std::string& out)
      : from_(from),
        to_(to),
        origin_(origin),
        bases_(origin.bases),
        class_of_(class_of),
        vtables_written_(vtables_written),
        loss_(loss),
        out_(out) {}

  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    if (const auto reason = reason_to_drop(record)) return lose(*reason);
    Record changed = record;
    EventHead adapted = head;
    adapt(adapted, changed);
    write_event(adapted, changed, to_, bases_, {}, out_);
  }

 private:
  [[nodiscard]] bool to_published() const { return to_.version == kPublishedVersion; }
  void lose(Reason reason) { ++loss_.counts[static_cast<size_t>(reason)]; }

  template <typename Record>
  [[nodiscard]] std::optional<Reason> reason_to_drop(const Record& record) const {
    if constexpr (std::is_same_v<Record, NativeBinary>) {
      if (!to_.events.has_time[event_byte(Group::sample, info::kSampleBinary)])
        return Reason::samples;
    }
    if constexpr (std::is_same_v<Record, CoverageAssembly> ||
                  std::is_same_v<Record, CoverageMethod> ||
                  std::is_same_v<Record, CoverageStatement> ||
                  std::is_same_v<Record, CoverageClass>)
      return Reason::coverage;  // neither version has it
    if (!to_published()) return std::nullopt;
    if constexpr (std::is_same_v<Record, GcHandle> || std::is_same_v<Record, GcFinalize>)
      return Reason::handles;
    if constexpr (std::is_same_v<Record, HeapRoots> || std::is_same_v<Record, HeapRootArea>)
      return Reason::roots;
    if constexpr (std::is_same_v<Record, SampleHit> || std::is_same_v<Record, NativeSymbol> ||
                  std::is_same_v<Record, NativeBinary>)
      return Reason::samples;
    if constexpr (std::is_same_v<Record, CounterDescriptions> || std::is_same_v<Record, Counters>)
      return Reason::counters;
    if constexpr (std::is_same_v<Record, JitHelper>) return Reason::runtime_code;
    if constexpr (std::is_same_v<Record, SyncPoint> || std::is_same_v<Record, AotId>)
      return Reason::marks;
    if constexpr (std::is_same_v<Record, GcEvent>)
      if (record.event > 9) return Reason::marks;
    if constexpr (std::is_same_v<Record, Metadata>) {
      // Profilers since 0.2 name threads, also in version 1.
      const bool names_thread =
          record.kind == MetadataKind::thread && record.action == Metadata::Action::name;
      const bool loads =
          record.kind <= MetadataKind::image && record.action == Metadata::Action::end_load;
      if (!names_thread && !loads) return Reason::loads;
    }
    return std::nullopt;
  }

  template <typename Record>
  void adapt(EventHead&, Record&) {}
  void adapt(EventHead& head, Alloc& r) { adapt_type(head, r.type); }
  void adapt(EventHead& head, HeapObject& r) {
    adapt_type(head, r.type);
    const bool offsets = from_.references_have_offsets && !to_.references_have_offsets;
    const bool generation = from_.heap_object_has_generation && !to_.heap_object_has_generation;
    if ((offsets && !r.references.empty()) || (generation && r.generation != 0))
      lose(Reason::event_parts);
  }
  void adapt(EventHead&, Clause& r) {
    if (from_.clause_has_object && !to_.clause_has_object && r.object != 0)
      lose(Reason::event_parts);
  }
  void adapt(EventHead& head, Metadata& r) {
    r.flags = 0;
    if (!r.mvid.empty() && !to_.image_load_has_mvid) lose(Reason::loads);
    if (to_published()) head.first_byte &= static_cast<uint8_t>(~info::kMetadataLoadError);
  }
  void adapt(EventHead& head, Monitor& r) {
    // The bit announces a backtrace, so it is dropped with the backtrace.
    if (r.has_backtrace && !to_.monitor_always_may_trace &&
        r.action != static_cast<uint8_t>(MonitorAction::contention)) {
      r.has_backtrace = false;
      lose(Reason::event_parts);
    }
    const uint8_t backtrace = r.has_backtrace ? info::kMonitorBacktrace : 0;
    const auto action = static_cast<uint8_t>((r.action & 3) << 4);
    head.first_byte =
        event_byte(Group::monitor, to_.monitor_action_is_byte ? backtrace : action | backtrace);
  }
  // In versions that have no time before these events, they have times of their own. The event that
  // follows goes back to the running time: steps are modulo 2^64.
  void adapt(EventHead& head, SampleHit& r) {
    constexpr uint64_t kCycles = 1;  // what a sample without a kind counts as
    if (!from_.hit_has_thread) r.thread = origin_.thread;
    if (!from_.every_event_has_time && to_.every_event_has_time && from_.hit_has_frames)
      head.time = r.timestamp;
    const auto has_offsets = [](const SampleFrame& frame) {
      return frame.il_offset != 0 || frame.native_offset != 0;
    };
    const bool offsets = from_.hit_frames_have_offsets && !to_.hit_frames_have_offsets;
    const bool kind = from_.hit_has_type && !to_.hit_has_type;
    if ((offsets && std::ranges::any_of(r.frames, has_offsets)) || (kind && r.type != kCycles))
      lose(Reason::event_parts);
  }
  void adapt(EventHead& head, Counters& r) {
    if (!from_.every_event_has_time && to_.every_event_has_time)
      head.time = origin_.first_time + r.timestamp_ms * 1'000'000;
  }
  // Roots of versions 3 to 14 have no slot: they are written with the address 0.
  void adapt(EventHead&, HeapRoots& r) {
    if (!from_.roots_are_slots && to_.roots_are_slots && !r.roots.empty())
      lose(Reason::event_parts);
  }

  // Objects name a class in one version and a vtable in the other: a class becomes its own vtable,
  // which is named at its first use.
  void adapt_type(EventHead& head, uint64_t& type) {
    if (from_.objects_have_vtables == to_.objects_have_vtables) return;
    if (!to_.objects_have_vtables) {
      const auto found = class_of_.find(type);
      if (found == class_of_.end()) return lose(Reason::unknown_types);
      type = found->second;
      return;
    }
    bool& written = vtables_written_[type];
    if (written) return;
    written = true;
    Metadata vtable;
    vtable.kind = MetadataKind::vtable;
    vtable.pointer = vtable.type = type;
    EventHead own = head;
    own.first_byte = event_byte(Group::metadata, info::kMetadataEndLoad);
    write_event(own, vtable, to_, bases_, {}, out_);
  }

  const Layout& from_;
  const Layout& to_;
  const BufferOrigin& origin_;
  BufferBases bases_;
  const std::map<uint64_t, uint64_t>& class_of_;
  std::map<uint64_t, bool>& vtables_written_;
  ConversionLoss& loss_;
  std::string& out_;
};

FileHeader convert_header(const FileHeader& from, uint8_t version, uint64_t first_time,
                          ConversionLoss& loss) {
  FileHeader to = from;
  to.version = version;
  to.major = version == kPublishedVersion ? 0 : 3;
  to.minor = version == kPublishedVersion ? 1 : 0;
  if (version == kPublishedVersion) {
    if (!from.arguments.empty() || !from.architecture.empty() || !from.operating_system.empty() ||
        from.port != 0)
      ++loss.counts[static_cast<size_t>(Reason::header_strings)];
    to.port = 0;
  } else if (!header_layout(from.major).has_startup_ns) {
    to.startup_ns = first_time;
  }
  return to;
}

}  // namespace

std::string_view loss_text(ConversionLoss::Reason reason) {
  return kLossTexts[static_cast<size_t>(reason)];
}

Result<ConversionLoss> convert_recording(Bytes file, const std::string& file_name,
                                         uint8_t target_version, const ByteSink& sink,
                                         ProblemLog& problems) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  ConversionLoss loss;
  if (header->version == target_version) {
    if (Result<void> done = rewrite_recording(file, sink); !done)
      return std::unexpected(done.error());
    return loss;
  }
  if (target_version != kPublishedVersion && target_version != kLastVersion) {
    return std::unexpected(Error{Error::Cause::usage,
                                 {},
                                 {},
                                 fmt::format("data version {} cannot be written", target_version),
                                 {}});
  }
  const BufferFrames frames = frame_file(file, *header, file_name);
  problems.merge(frames.problems);
  const Layout from = find_layout(file, *header, frames);
  const Layout to = layout_of(target_version);
  TypeMap types;
  for (const BufferFrame& frame : frames.buffers)
    decode_buffer(frame.events(file), frame.header.bases(header->address_mask()), frame.begin, from,
                  types);

  BlockWriter out(sink);
  const uint64_t first_time = frames.buffers.empty() ? 0 : frames.buffers[0].header.time_base;
  uint64_t earliest = first_time;
  for (const BufferFrame& frame : frames.buffers)
    earliest = std::min(earliest, frame.header.time_base);
  write_file_header(convert_header(*header, target_version, first_time, loss), out.block());
  std::map<uint64_t, bool> vtables_written;
  std::string events;
  for (const BufferFrame& frame : frames.buffers) {
    events.clear();
    const BufferOrigin origin{frame.header.bases(header->address_mask()), frame.header.thread,
                              earliest};
    EventConverter converter(from, to, origin, types.class_of, vtables_written, loss, events);
    const DecodeEnd end =
        decode_buffer(frame.events(file), origin.bases, frame.begin, from, converter);
    if (end.error) problems.add(decode_problem(end, frame, file_name));
    BufferHeader changed = frame.header;
    changed.length = static_cast<uint32_t>(events.size());
    write_buffer_header(changed, out.block());
    out.write(events);
  }
  if (Result<void> done = out.finish(); !done) return std::unexpected(done.error());
  return loss;
}

}  // namespace telltale::mono
