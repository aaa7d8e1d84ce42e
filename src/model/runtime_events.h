#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/clock.h"
#include "model/events.h"

namespace telltale {

// Events of a managed runtime (or any other program) other than calls: memory, collections, locks,
// exceptions, samples, counters, loads. Each is a small struct that is only valid during the call
// sink.on(event). A sink defines on() for the events that it handles: a source checks handles<Sink,
// Event>, at compile time, before it makes an event. Sources that only have calls need none of
// this.
template <typename Sink, typename Event>
concept handles = requires(Sink& sink, const Event& event) { sink.on(event); };

// The details of events that a sink needs. A sink with a member `EventDetails details() const` may
// get events without the other details, which is faster to read.
struct EventDetails {
  // Stacks of any event; objects of allocations.
  bool stacks = true;
  // References of heap objects, and the object's own address; objects that moved, and roots.
  bool references = true;
  // With `stacks`: functions and objects of clauses.
  bool clauses = true;
};
template <typename Sink>
EventDetails details_for(const Sink& sink) {
  if constexpr (requires { sink.details(); }) return sink.details();
  return {};
}

// Sources of such events have a member kTellsRuntimeEvents; others need not be read for them.
template <typename Source>
constexpr bool tells_runtime_events = requires { Source::kTellsRuntimeEvents; };

// Passes an event to a sink that handles it.
template <typename Sink, typename Event>
[[gnu::always_inline]] inline void emit(Sink& sink, const Event& event) {
  if constexpr (handles<Sink, Event>) sink.on(event);
}

// A type, as the recording names it (for Mono the address of a class, or of a class's vtable in one
// domain, so several ids can be the same type): TypeNames maps it to a name. An id identifies one
// type as long as the recording does not unload it.
enum class TypeId : uint64_t {};
constexpr uint64_t to_number(TypeId id) { return static_cast<uint64_t>(id); }
// An object's address in memory at that time; ObjectsMoved changes it.
enum class ObjectId : uint64_t {};
constexpr uint64_t to_number(ObjectId id) { return static_cast<uint64_t>(id); }
// The address of a type or object in its process: the lowest `address_bits` of the id's number. The
// bits above distinguish the processes of a recording (PieceEvent::address_bits).
constexpr uint64_t address_in(uint64_t id, unsigned address_bits) {
  return address_bits >= 64 ? id : id & ((uint64_t{1} << address_bits) - 1);
}

// Open calls, outermost first. `known` is false if the event has no stack: the stack is then
// derived from the thread's own enter and leave events, if there are any.
struct RecordedStack {
  bool known = false;
  std::span<const FunctionId> functions;
  // 0, or a number that only equal stacks have, so that a sink need not follow those that it has
  // seen: the upper half is the same for all stacks of one reading (of a shard, for example), and
  // the lower half counts these from 0.
  uint64_t number = 0;
};

// --- Memory
// ---------------------------------------------------------------------------------------

struct AllocationEvent {
  Ticks time = 0;
  TypeId type{};
  ObjectId object{};
  uint64_t bytes = 0;
  RecordedStack stack;
};

struct ObjectsMoved {
  struct Move {
    ObjectId from{};
    ObjectId to{};
  };
  Ticks time = 0;
  uint64_t count = 0;           // of the moves
  std::span<const Move> moves;  // empty if a sink does not need them
};

// Steps of a collection, in chronological order. The world is stopped from stopped to restarting.
enum class CollectionStep : uint8_t {
  start,  // of the collection itself
  mark_start,
  mark_end,
  reclaim_start,
  reclaim_end,
  end,
  stopping_world,
  stopped_world,
  starting_world,
  started_world,
  stopping_world_locked,   // the collector has taken its lock
  started_world_unlocked,  // and released it
};
struct CollectionEvent {
  Ticks time = 0;
  CollectionStep step{};
  uint8_t generation = 0;  // 0: nursery
};

struct HeapResized {
  Ticks time = 0;
  uint64_t bytes = 0;  // of the heap from now on
};

struct HandleEvent {
  enum class Kind : uint8_t { weak, weak_with_resurrection, normal, pinned };
  Ticks time = 0;
  bool created = true;
  Kind kind{};
  uint64_t handle = 0;
  ObjectId object{};  // of a created handle
  RecordedStack stack;
};

struct FinalizationEvent {
  enum class Phase : uint8_t { start, end, object_start, object_end };
  Ticks time = 0;
  Phase phase{};
  ObjectId object{};  // of the object phases
};

// --- Heap shots: all live objects at one time, between begin and end in one thread's events
// ---------------------------------------------------------------------------------------

struct HeapShotEvent {
  Ticks time = 0;
  bool begin = true;
};

struct HeapObjectEvent {
  struct Reference {
    uint64_t offset = 0;  // of the field, from the start of the object, bytes
    ObjectId object{};
  };
  Ticks time = 0;
  ObjectId object{};
  TypeId type{};
  uint64_t bytes = 0;  // 0: further references of the previous object
  uint8_t generation = 0;
  std::span<const Reference> references;
};

// Roots: places that keep objects alive. Old recordings contain the kind of place, new ones its
// address, which lies in a HeapRootArea.
struct HeapRootsEvent {
  enum class Kind : uint8_t { unknown, stack, finalizer, handle, other, misc };
  struct Root {
    ObjectId object{};
    uint64_t address = 0;  // of the place, an id as in ObjectId; 0: not recorded
    Kind kind = Kind::unknown;
    bool pinning = false;
    bool weak = false;
    bool interior = false;
    uint64_t extra = 0;
  };
  Ticks time = 0;
  std::span<const Root> roots;  // empty if a sink does not need them
};

struct HeapRootAreaEvent {
  enum class Source : uint8_t {
    external,
    stack,
    finalizer_queue,
    statics,
    thread_statics,
    context_statics,
    gc_handle,
    jit,
    threading,
    domain,
    reflection,
    marshal,
    thread_pool,
    debugger,
    handle,
    ephemeron,
    toggle_reference,
  };
  static constexpr uint8_t kSources = 17;
  Ticks time = 0;
  bool registered = true;
  uint64_t start = 0;
  uint64_t bytes = 0;
  Source source{};   // may be an unknown number: compare with kSources
  uint64_t key = 0;  // the area's owner: a vtable for statics, a thread for stacks ...
  std::string_view name;
};

// --- Locks and exceptions
// ---------------------------------------------------------------------------------------

struct MonitorEvent {
  enum class Kind : uint8_t { contended = 1, acquired = 2, failed = 3 };
  Ticks time = 0;
  Kind kind{};
  ObjectId object{};  // that is locked
  RecordedStack stack;
};

struct ThrowEvent {
  Ticks time = 0;
  ObjectId object{};
  RecordedStack stack;
};

struct ClauseEvent {
  enum class Kind : uint8_t { catches = 0, filter = 1, finally = 2, fault = 4 };
  Ticks time = 0;
  Kind kind{};  // may be an unknown number
  uint64_t index = 0;
  FunctionId function{};
  ObjectId object{};  // the exception; 0: not recorded
};

// --- Samples and counters
// ---------------------------------------------------------------------------------------

struct SampleEvent {
  Ticks time = 0;
  bool has_thread = false;  // otherwise the thread is not recorded
  int64_t thread = 0;       // the sampled thread: often not the one that wrote the event
  std::span<const uint64_t> addresses;  // of native code, innermost first
  RecordedStack stack;                  // managed calls, outermost first
  bool has_kind = false;                // otherwise the recording does not say what was sampled
  uint64_t kind = 0;  // 1 cycles, 2 instructions, 3 and 4 cache misses and references, 5 and 6
                      // branches and misses
};

struct CounterDescribed {
  Ticks time = 0;
  uint64_t index = 0;  // its index in CounterEvent
  std::string_view section;
  std::string_view name;
  // As recorded; docs/formats/mono.md lists the numbers.
  uint64_t section_number = 0;
  uint64_t type = 0;
  uint64_t unit = 0;
  uint64_t variance = 0;
  bool absolute = false;  // its numbers are values; otherwise differences from the previous one
};

struct CounterEvent {
  enum class Form : uint8_t { signed_number, unsigned_number, real, text };
  Ticks time = 0;
  uint64_t index = 0;
  uint64_t type = 0;  // as in CounterDescribed
  Form form{};
  // A difference from the previous number of this index, initially 0, unless the counter is
  // absolute. Numbers of signed types are two's complement.
  uint64_t number = 0;
  double real = 0;        // absolute
  std::string_view text;  // absolute
};

// --- What is loaded
// ---------------------------------------------------------------------------------------

struct LoadEvent {
  enum class Kind : uint8_t { type, type_in_domain, image, assembly, domain, thread, context };
  enum class Action : uint8_t { named, loading, loaded, unloading, unloaded };
  Ticks time = 0;
  Kind kind{};
  Action action{};
  bool failed = false;
  uint64_t id = 0;      // TypeId's number for types; otherwise as recorded
  uint64_t type = 0;    // of type_in_domain: its type
  uint64_t image = 0;   // of a type or assembly; 0: unknown
  uint64_t domain = 0;  // of type_in_domain and context
  bool has_name = false;
  std::string_view name;
  std::string_view mvid;  // of an image
};

// Compiled code: of a function, or a helper that the runtime generated. For a function that was
// compiled before the run, or not yet, address and bytes are 0.
struct CompiledEvent {
  Ticks time = 0;
  FunctionId function{};
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string_view name;
};
struct RuntimeCodeEvent {
  Ticks time = 0;
  uint64_t kind = 0;  // docs/formats/mono.md lists the numbers since version 14
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string_view name;
};
struct NativeSymbolEvent {
  Ticks time = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;  // 0: unknown
  std::string_view name;
};
struct NativeBinaryEvent {
  Ticks time = 0;
  uint64_t address = 0;
  uint64_t file_offset = 0;
  uint64_t bytes = 0;
  std::string_view name;
};

// --- Coverage
// ---------------------------------------------------------------------------------------

struct CoverageEvent {
  enum class Kind : uint8_t { assembly, type, method, statement };
  Ticks time = 0;
  Kind kind{};
  std::string_view assembly = {};
  std::string_view type = {};
  std::string_view name = {};  // of an assembly, type or method
  std::string_view signature = {};
  std::string_view file = {};
  std::string_view guid = {};
  // Of assemblies and types.
  uint64_t methods = 0;
  uint64_t fully_covered = 0;
  uint64_t partially_covered = 0;
  // Of methods and their statements.
  uint64_t method = 0;
  uint64_t token = 0;
  uint64_t statements = 0;
  uint64_t offset = 0;
  uint64_t count = 0;
  uint64_t line = 0;
  uint64_t column = 0;
};

// --- Order
// ---------------------------------------------------------------------------------------

// The following events of the shard, until the next of these, are from one piece of the input (for
// Mono: a buffer) that one thread wrote. The first event of each piece.
struct PieceEvent {
  Ticks time = 0;       // beginning of the piece
  uint64_t offset = 0;  // of its first byte, from the start of the input: the order of offsets is
                        // the order of the input across threads
  size_t stream = 0;    // index into EventSource::streams()
  int64_t thread = 0;   // as in ThreadKey::tid
  unsigned address_bits = 64;  // of ids: address_in(); the same in all pieces
  size_t process = 0;          // EventStream::process
  // Input is missing between this piece and the thread's piece before: it may be of this thread.
  bool after_loss = false;
};

// All events that precede it in the files, of any thread, happened before all that follow it.
struct SyncEvent {
  enum class Kind : uint8_t { periodic, world_stopped, world_started };
  Ticks time = 0;
  Kind kind{};
};

// The meaning of a TypeId. `type` is the same for all ids of one type. Names are never trusted.
struct TypeInfo {
  TypeId type{};
  std::string name;   // "#0x..." if the recording does not say
  std::string image;  // the file that contains it; empty: unknown
  uint64_t domain = 0;
  bool known = false;
};
class TypeNames {
 public:
  TypeNames() = default;
  TypeNames(const TypeNames&) = delete;
  TypeNames& operator=(const TypeNames&) = delete;
  virtual ~TypeNames() = default;
  // Thread-safe.
  [[nodiscard]] virtual TypeInfo describe(TypeId id) const = 0;
};

}  // namespace telltale
