#pragma once

#include <array>
#include <cstdint>

#include "formats/mono/wire.h"

namespace telltale::mono {

// The events and their first bytes: (byte & mask) == value. `timed` events begin with a time in
// every version, the others since version 13.
struct EventRow {
  EventKind kind;
  uint8_t value;
  uint8_t mask;
  uint8_t since;
  uint8_t until;
  bool timed;
};
constexpr uint8_t event_byte(Group group, uint8_t info) {
  return static_cast<uint8_t>(static_cast<uint8_t>(group) | info);
}
constexpr uint8_t kLast = kLastVersion;
constexpr auto kEventRows = std::to_array<EventRow>({
    {EventKind::alloc, event_byte(Group::alloc, 0), 0xEF, 1, kLast, true},
    {EventKind::gc_event, event_byte(Group::gc, info::kGcEvent), 0xFF, 1, kLast, true},
    {EventKind::gc_resize, event_byte(Group::gc, info::kGcResize), 0xFF, 1, kLast, true},
    {EventKind::gc_move, event_byte(Group::gc, info::kGcMove), 0xFF, 1, kLast, true},
    {EventKind::gc_handle, event_byte(Group::gc, info::kGcHandleCreated), 0xEF, 1, kLast, true},
    {EventKind::gc_handle, event_byte(Group::gc, info::kGcHandleCreatedBacktrace), 0xEF, 11, kLast,
     true},
    {EventKind::gc_finalize, event_byte(Group::gc, info::kGcFinalizeStart), 0xCF, 13, kLast, true},
    {EventKind::metadata, event_byte(Group::metadata, info::kMetadataName), 0x4F, 1, kLast, true},
    {EventKind::metadata, event_byte(Group::metadata, info::kMetadataEndUnload), 0x7F, 1, kLast,
     true},
    {EventKind::call, kEnterByte, 0xFF, 1, kLast, true},
    {EventKind::call, kLeaveByte, 0xFF, 1, kLast, true},
    {EventKind::call, kExceptionLeaveByte, 0xFF, 1, kLast, true},
    {EventKind::jit, event_byte(Group::method, info::kMethodJit), 0xFF, 1, kLast, true},
    {EventKind::exception_throw, event_byte(Group::exception, info::kExceptionThrow), 0x7F, 1,
     kLast, true},
    {EventKind::exception_clause, event_byte(Group::exception, info::kExceptionClause), 0xFF, 1,
     kLast, true},
    {EventKind::monitor, event_byte(Group::monitor, 0), 0x4F, 1, 13, true},
    {EventKind::monitor, event_byte(Group::monitor, 0), 0x7F, 14, kLast, true},
    {EventKind::heap_shot, event_byte(Group::heap, info::kHeapStart), 0xEF, 1, kLast, true},
    {EventKind::heap_object, event_byte(Group::heap, info::kHeapObject), 0xFF, 1, kLast, false},
    {EventKind::heap_roots, event_byte(Group::heap, info::kHeapRoot), 0xFF, 3, kLast, false},
    {EventKind::heap_root_area, event_byte(Group::heap, info::kHeapRootRegister), 0xEF, 15, kLast,
     true},
    {EventKind::sample_hit, event_byte(Group::sample, info::kSampleHit), 0xFF, 4, kLast, false},
    {EventKind::native_symbol, event_byte(Group::sample, info::kSampleSymbol), 0xFF, 4, kLast,
     false},
    {EventKind::native_binary, event_byte(Group::sample, info::kSampleBinary), 0xFF, 4, 15, true},
    {EventKind::counter_descriptions, event_byte(Group::sample, info::kSampleCounterDescriptions),
     0xFF, 5, kLast, false},
    {EventKind::counters, event_byte(Group::sample, info::kSampleCounters), 0xFF, 5, kLast, false},
    {EventKind::jit_helper, event_byte(Group::runtime, info::kRuntimeJitHelper), 0xFF, 8, kLast,
     true},
    {EventKind::coverage_assembly, event_byte(Group::coverage, info::kCoverageAssembly), 0xFF, 10,
     15, false},
    {EventKind::coverage_method, event_byte(Group::coverage, info::kCoverageMethod), 0xFF, 10, 15,
     false},
    {EventKind::coverage_statement, event_byte(Group::coverage, info::kCoverageStatement), 0xFF, 10,
     15, false},
    {EventKind::coverage_class, event_byte(Group::coverage, info::kCoverageClass), 0xFF, 10, 15,
     false},
    {EventKind::sync_point, event_byte(Group::meta, info::kMetaSyncPoint), 0xFF, 13, kLast, true},
    {EventKind::aot_id, event_byte(Group::meta, info::kMetaAotId), 0xFF, 16, kLast, true},
});

// The rows of one version, by first byte.
struct EventTable {
  static constexpr uint8_t kNone = 0xFF;
  std::array<uint8_t, 256> kind;  // EventKind, or kNone
  std::array<bool, 256> has_time;
};
constexpr EventTable event_table(uint8_t version) {
  EventTable table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    table.kind[byte] = EventTable::kNone;
    for (const EventRow& row : kEventRows) {
      if (version < row.since || version > row.until || (byte & row.mask) != row.value) continue;
      table.kind[byte] = static_cast<uint8_t>(row.kind);
      table.has_time[byte] = row.timed || version >= 13;
    }
  }
  return table;
}

// Differences between data versions. No other code compares version numbers. The comment of each
// member says since (or up to) which version; docs/formats/mono.md has the same table with dates
// and releases.
struct Layout {
  uint8_t version = kLastVersion;

  // --- How every event is written
  bool every_event_has_time;    // 13; before, heap objects, roots, hits, symbols, counters and
                                // coverage have none
  bool backtrace_is_methods;    // 13: frames are chained methods; before, a flags number and
                                // pointers relative to ptr_base
  bool metadata_has_flags;      // up to 12
  bool small_fields_are_bytes;  // 13: GC event, generation, helper type, sample type, clause type

  // --- Single events
  bool references_have_offsets;     // 2
  bool hit_has_type;                // up to 13
  bool hit_has_frames;              // 6
  bool hit_frames_have_offsets;     // 6 to 12: IL and native offset of each frame
  bool hit_has_thread;              // 11
  bool counters_name_sections;      // 7: performance counters carry their section's name
  bool counter_fields_are_bytes;    // 13 and 14: type, unit and variance
  bool root_type_is_byte;           // 13
  bool root_type_is_flags;          // 14: before, an ordinal
  bool roots_are_slots;             // 15: (slot address, object) without kind
  bool has_root_areas;              // 15
  bool monitor_action_is_byte;      // 14: before, in the event's first byte
  bool monitor_always_may_trace;    // 14: before, only a contention has a backtrace
  bool binary_address_is_pointer;   // 14: before, an absolute number
  bool assembly_has_image;          // 14
  bool clause_has_object;           // 14
  bool objects_have_vtables;        // 15: allocations and heap objects name a vtable, not a class
  bool image_load_has_mvid;         // 16
  bool heap_object_has_generation;  // 16
  uint8_t specific_trampoline;      // the helper type that has a name: 6, since 14: 5

  EventTable events;  // which events there are
};

// `counters_only`: a 5.10 branch wrote 15 when only the counters' fields had changed.
constexpr Layout layout_of(uint8_t version, bool counters_only = false) {
  const uint8_t v = counters_only && version == 15 ? 14 : version;
  return {.version = version,
          .every_event_has_time = v >= 13,
          .backtrace_is_methods = v >= 13,
          .metadata_has_flags = v <= 12,
          .small_fields_are_bytes = v >= 13,
          .references_have_offsets = v >= 2,
          .hit_has_type = v <= 13,
          .hit_has_frames = v >= 6,
          .hit_frames_have_offsets = v <= 12,
          .hit_has_thread = v >= 11,
          .counters_name_sections = v >= 7,
          .counter_fields_are_bytes = version == 13 || version == 14,
          .root_type_is_byte = v == 13,
          .root_type_is_flags = v >= 14,
          .roots_are_slots = v >= 15,
          .has_root_areas = v >= 15,
          .monitor_action_is_byte = v >= 14,
          .monitor_always_may_trace = v >= 14,
          .binary_address_is_pointer = v >= 14,
          .assembly_has_image = v >= 14,
          .clause_has_object = v >= 14,
          .objects_have_vtables = v >= 15,
          .image_load_has_mvid = v >= 16,
          .heap_object_has_generation = v >= 16,
          .specific_trampoline = static_cast<uint8_t>(v >= 14 ? 5 : 6),
          .events = event_table(v)};
}

// Differences between the profiler's own versions (major): the file's header.
struct HeaderLayout {
  bool has_strings;     // 1: arguments, architecture, operating system
  bool has_startup_ns;  // 3: start-up on the clock of the events
};
constexpr HeaderLayout header_layout(uint8_t major) {
  return {.has_strings = major >= 1, .has_startup_ns = major >= 3};
}

}  // namespace telltale::mono
