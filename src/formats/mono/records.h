#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/cursor.h"
#include "formats/mono/wire.h"

namespace telltale::mono {

// The events of a recording, one type each, in the published text's terms. Addresses are absolute
// (bases added, shifts undone); times are nanoseconds on the recording's clock. Views (lists and
// strings) are valid during the visitor's call; strings are never trusted.

std::string_view event_name(EventKind kind);  // "Alloc", "GcMove" ...

// "Mono JIT" ...; empty for an unknown number, and for performance counters, whose section name is
// in the file.
std::string_view counter_section_name(uint64_t section);

// Common to all events.
struct EventHead {
  EventKind kind{};
  uint8_t first_byte = 0;
  uint64_t time = 0;    // ns; of the previous timed event if it has no time of its own
  uint64_t offset = 0;  // of its first byte, from the start of the file
  Bytes raw;            // all its bytes

  [[nodiscard]] uint8_t info() const { return first_byte & 0xF0; }
};

// Frames of managed code, outermost first.
using Backtrace = std::span<const uint64_t>;

struct Alloc {
  uint64_t type = 0;  // class, or vtable: Layout::objects_have_vtables
  uint64_t object = 0;
  uint64_t size = 0;  // bytes
  bool has_backtrace = false;
  Backtrace backtrace;
};

struct GcEvent {
  uint64_t event = 0;  // 0 start, 5 end, 6 pre-stop, 7 post-stop, 8 pre-start, 9 post-start of the
                       // world, 10 and 11 locks; 1 to 4 mark and reclaim phases
  uint64_t generation = 0;
};
struct GcResize {
  uint64_t heap_size = 0;  // bytes
};
struct GcMove {
  std::span<const uint64_t> objects;  // old and new address alternately
};
struct GcHandle {
  bool created = true;
  uint64_t type = 0;  // 0 weak, 1 weak with resurrection, 2 normal, 3 pinned
  uint64_t handle = 0;
  uint64_t object = 0;  // of a created handle
  bool has_backtrace = false;
  Backtrace backtrace;
};
struct GcFinalize {
  enum class Phase : uint8_t { start, end, object_start, object_end };
  Phase phase = Phase::start;
  uint64_t object = 0;
};

struct Metadata {
  enum class Action : uint8_t { name, start_load, end_load, start_unload, end_unload };
  Action action = Action::end_load;
  bool load_error = false;
  MetadataKind kind = MetadataKind::type;
  uint64_t pointer = 0;  // of the class, image ...; id of a domain, context or thread
  uint64_t flags = 0;    // up to version 12; 0
  uint64_t image = 0;    // of a class; of an assembly since version 14
  uint64_t domain = 0;   // of a context or vtable
  uint64_t type = 0;     // class of a vtable
  bool has_name = false;
  std::string_view name;
  std::string_view mvid;  // of a loaded image, since version 16
};

struct Call {
  enum class Action : uint8_t { leave = 1, enter = 2, exception_leave = 3 };  // as in the byte
  Action action = Action::enter;
  uint64_t method = 0;
};
struct Jit {
  uint64_t method = 0;
  uint64_t code = 0;  // 0: not compiled here
  uint64_t code_size = 0;
  std::string_view name;
};

struct Throw {
  uint64_t object = 0;
  bool has_backtrace = false;
  Backtrace backtrace;
};
struct Clause {
  uint64_t type = 0;  // ClauseKind
  uint64_t index = 0;
  uint64_t method = 0;
  uint64_t object = 0;  // since version 14
};
struct Monitor {
  uint8_t action = 0;  // MonitorAction
  uint64_t object = 0;
  bool has_backtrace = false;
  Backtrace backtrace;
};

struct HeapShot {
  bool begin = true;
};
struct HeapReference {
  uint64_t offset = 0;  // from the start of the object, bytes; 0 in version 1
  uint64_t object = 0;
};
struct HeapObject {
  uint64_t object = 0;
  uint64_t type = 0;  // as in Alloc
  uint64_t size = 0;  // 0: further references of the previous object
  uint8_t generation = 0;
  std::span<const HeapReference> references;
};
struct HeapRoot {
  uint64_t object = 0;
  uint64_t slot = 0;   // address of the root; since version 15
  uint64_t type = 0;   // up to version 14: ordinal or flags, with kRootPinning ...
  uint64_t extra = 0;  // up to version 14
};
struct HeapRoots {
  uint64_t collections = 0;  // major collections so far; up to version 14
  std::span<const HeapRoot> roots;
};
struct HeapRootArea {
  bool registered = true;
  uint64_t start = 0;
  uint64_t size = 0;  // bytes
  uint8_t source = 0;
  uint64_t key = 0;
  std::string_view name;
};

struct SampleFrame {
  uint64_t method = 0;
  int64_t il_offset = 0;  // versions 6 to 12
  int64_t native_offset = 0;
};
struct SampleHit {
  uint64_t type = 0;                    // up to version 13: 1 cycles, 2 instructions ...
  uint64_t timestamp = 0;               // up to version 12, ns
  uint64_t thread = 0;                  // since version 11
  std::span<const uint64_t> addresses;  // native, leaf first
  std::span<const SampleFrame> frames;  // managed, leaf first
};
struct NativeSymbol {
  uint64_t address = 0;
  uint64_t size = 0;  // 0: unknown
  std::string_view name;
};
struct NativeBinary {
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t size = 0;
  std::string_view name;
};

struct CounterDescription {
  uint64_t section = 0;           // 1 << 8 JIT ... 1 << 16 profiler
  std::string_view section_name;  // of performance counters
  std::string_view name;
  uint64_t type = 0;      // CounterType
  uint64_t unit = 0;      // (1 bytes, 2 time, 3 count, 4 percentage) << 24
  uint64_t variance = 0;  // 1 << 28 monotonic, 1 << 29 constant, 1 << 30 variable
  uint64_t index = 0;
};
struct CounterDescriptions {
  std::span<const CounterDescription> counters;
};
struct CounterValue {
  uint64_t index = 0;  // never 0
  uint64_t type = 0;   // CounterType
  // Numbers are differences from the last value of that index, except for performance counters.
  uint64_t number = 0;  // two's complement for signed types
  double real = 0;
  bool has_text = false;
  std::string_view text;
};
struct Counters {
  uint64_t timestamp_ms = 0;  // since start-up; up to version 12
  std::span<const CounterValue> values;
};

struct JitHelper {
  uint64_t type = 0;
  uint64_t code = 0;
  uint64_t size = 0;
  std::string_view name;  // of a specific trampoline
};

struct CoverageAssembly {
  std::string_view name;
  std::string_view guid;
  std::string_view file;
  uint64_t methods = 0;
  uint64_t fully_covered = 0;
  uint64_t partially_covered = 0;
};
struct CoverageMethod {
  std::string_view assembly;
  std::string_view type;
  std::string_view name;
  std::string_view signature;
  std::string_view file;
  uint64_t token = 0;
  uint64_t id = 0;
  uint64_t statements = 0;
};
struct CoverageStatement {
  uint64_t method_id = 0;
  uint64_t offset = 0;
  uint64_t counter = 0;
  uint64_t line = 0;
  uint64_t column = 0;
};
struct CoverageClass {
  std::string_view assembly;
  std::string_view name;
  uint64_t methods = 0;
  uint64_t fully_covered = 0;
  uint64_t partially_covered = 0;
};

struct SyncPoint {
  uint8_t kind = 0;  // SyncKind
};
struct AotId {
  std::string_view id;
};

}  // namespace telltale::mono
