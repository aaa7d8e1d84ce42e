#pragma once

// The bytes of a Mono log-profiler recording (.mlpd), in one freestanding header.
// docs/formats/mono.md has the grammar, a version table and a worked hex dump.

#include <cstddef>
#include <cstdint>

namespace telltale::mono {

constexpr uint32_t kFileId = 0x4D505A01;
constexpr uint32_t kBufferId = 0x4D504C01;
constexpr size_t kBufferHeaderBytes = 48;
constexpr size_t kFirstHeaderBytes = 32;  // of a file whose header has no strings

constexpr uint8_t kPublishedVersion = 1;  // the data version that the published text describes
constexpr uint8_t kLastVersion = 17;

// Objects are 8-byte aligned: their addresses are stored shifted.
constexpr unsigned kObjectShift = 3;

// The lower four bits of an event's first byte.
enum class Group : uint8_t {
  alloc = 0,
  gc = 1,
  metadata = 2,
  method = 3,
  exception = 4,
  monitor = 5,
  heap = 6,
  sample = 7,
  runtime = 8,
  coverage = 9,
  meta = 10,
};

// The upper four bits, which depend on the group.
namespace info {
constexpr uint8_t kAllocBacktrace = 0x10;

constexpr uint8_t kGcEvent = 0x10;
constexpr uint8_t kGcResize = 0x20;
constexpr uint8_t kGcMove = 0x30;
constexpr uint8_t kGcHandleCreated = 0x40;
constexpr uint8_t kGcHandleDestroyed = 0x50;
constexpr uint8_t kGcHandleCreatedBacktrace = 0x60;
constexpr uint8_t kGcHandleDestroyedBacktrace = 0x70;
constexpr uint8_t kGcFinalizeStart = 0x80;
constexpr uint8_t kGcFinalizeEnd = 0x90;
constexpr uint8_t kGcFinalizeObjectStart = 0xA0;
constexpr uint8_t kGcFinalizeObjectEnd = 0xB0;

constexpr uint8_t kMetadataName = 0x00;
constexpr uint8_t kMetadataStartLoad = 0x10;
constexpr uint8_t kMetadataEndLoad = 0x20;
constexpr uint8_t kMetadataStartUnload = 0x30;
constexpr uint8_t kMetadataEndUnload = 0x40;
constexpr uint8_t kMetadataLoadError = 0x80;  // a bit

constexpr uint8_t kMethodLeave = 0x10;
constexpr uint8_t kMethodEnter = 0x20;
constexpr uint8_t kMethodExceptionLeave = 0x30;
constexpr uint8_t kMethodJit = 0x40;

constexpr uint8_t kExceptionThrow = 0x00;
constexpr uint8_t kExceptionClause = 0x10;
constexpr uint8_t kExceptionBacktrace = 0x80;  // a bit

constexpr uint8_t kMonitorBacktrace = 0x80;  // a bit

constexpr uint8_t kHeapStart = 0x00;
constexpr uint8_t kHeapEnd = 0x10;
constexpr uint8_t kHeapObject = 0x20;
constexpr uint8_t kHeapRoot = 0x30;
constexpr uint8_t kHeapRootRegister = 0x40;
constexpr uint8_t kHeapRootUnregister = 0x50;

constexpr uint8_t kSampleHit = 0x00;
constexpr uint8_t kSampleSymbol = 0x10;
constexpr uint8_t kSampleBinary = 0x20;
constexpr uint8_t kSampleCounterDescriptions = 0x30;
constexpr uint8_t kSampleCounters = 0x40;

constexpr uint8_t kRuntimeJitHelper = 0x10;

constexpr uint8_t kCoverageAssembly = 0x00;
constexpr uint8_t kCoverageMethod = 0x10;
constexpr uint8_t kCoverageStatement = 0x20;
constexpr uint8_t kCoverageClass = 0x30;

constexpr uint8_t kMetaSyncPoint = 0x00;
constexpr uint8_t kMetaAotId = 0x10;
}  // namespace info

// The first bytes of the three most frequent events.
constexpr uint8_t kLeaveByte = info::kMethodLeave | static_cast<uint8_t>(Group::method);
constexpr uint8_t kEnterByte = info::kMethodEnter | static_cast<uint8_t>(Group::method);
constexpr uint8_t kExceptionLeaveByte =
    info::kMethodExceptionLeave | static_cast<uint8_t>(Group::method);

// The kinds of events; records.h has a type for each.
enum class EventKind : uint8_t {
  alloc,
  gc_event,
  gc_resize,
  gc_move,
  gc_handle,
  gc_finalize,
  metadata,
  call,
  jit,
  exception_throw,
  exception_clause,
  monitor,
  heap_shot,
  heap_object,
  heap_roots,
  heap_root_area,
  sample_hit,
  native_symbol,
  native_binary,
  counter_descriptions,
  counters,
  jit_helper,
  coverage_assembly,
  coverage_method,
  coverage_statement,
  coverage_class,
  sync_point,
  aot_id,
};
constexpr size_t kEventKinds = 28;

// The subject of a metadata event.
enum class MetadataKind : uint8_t {
  type = 1,  // a class
  image = 2,
  assembly = 3,
  domain = 4,
  thread = 5,   // late version 1
  context = 6,  // since version 11
  vtable = 7,   // since version 15
};
constexpr uint8_t kLastMetadataKind = 7;

constexpr uint64_t kLastGcEvent = 11;
constexpr uint64_t kLastGeneration = 2;
constexpr uint64_t kLastHandleType = 3;  // weak, weak with resurrection, normal, pinned

enum class MonitorAction : uint8_t { contention = 1, done = 2, fail = 3 };
enum class ClauseKind : uint8_t { catches = 0, filter = 1, finally = 2, fault = 4 };
enum class SyncKind : uint8_t { periodic = 0, world_stop = 1, world_start = 2 };

enum class CounterType : uint8_t {
  int32 = 0,
  uint32 = 1,
  word = 2,
  int64 = 3,
  uint64 = 4,
  f64 = 5,
  text = 6,
  time_interval = 7,  // microseconds
};
constexpr uint64_t kLastCounterType = 7;
constexpr uint64_t kPerformanceCounters = 1U << 15;  // its counters' section names are in the file

// Flags of old heap roots (versions 3 to 14), besides the kind.
constexpr uint64_t kRootPinning = 0x100;
constexpr uint64_t kRootWeak = 0x200;
constexpr uint64_t kRootInterior = 0x400;

}  // namespace telltale::mono
