#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale {

// A collection's begin or end in a thread's events.
struct CollectionMark {
  Ticks time = 0;
  size_t stream = 0;
  uint8_t generation = 0;
  bool begin = false;
};
// A complete collection, without the time to stop the world.
struct GcCollection {
  Ticks begin = 0;
  Ticks end = 0;
  size_t stream = 0;  // the thread with its begin event
  uint8_t generation = 0;
};
// Which threads can end a collection: any thread of the process (another thread often finishes a
// concurrent collection), or, as in mprof-report, only the one that began it.
enum class EndsTold : uint8_t { by_any_thread, by_its_thread };

// In order of their begins. A process runs one collection of each generation at a time. `marks`: by
// thread, each in its order.
std::vector<GcCollection> pair_collections(std::vector<CollectionMark> marks,
                                           std::span<const EventStream> streams,
                                           EndsTold ends = EndsTold::by_any_thread);

// Number and duration of garbage collections, by generation; changes of the heap.
// docs/analysis/mono.md, "gc". A part: handles the events of a piece of a thread, and is then
// merged by append(), in the order of each thread's pieces; threads in any order. Memory depends on
// the number of collections.
class GcCollections {
 public:
  static constexpr size_t kGenerations = 3;
  // A collection's time is from its start to its end, without the time to stop the world.
  struct Generation {
    uint64_t collections = 0;  // that began
    uint64_t finished = 0;     // that began and ended
    Ticks total = 0;           // of those that ended
    Ticks max = 0;
  };

  void on(const PieceEvent& event) { stream_ = event.stream; }
  void on(const CollectionEvent& event);
  void on(const HeapResized& event);
  void on(const ObjectsMoved& event) { moved_objects_ += event.count; }
  void append(const GcCollections& next);

  [[nodiscard]] std::array<Generation, kGenerations> generations(
      std::span<const EventStream> streams, EndsTold ends = EndsTold::by_any_thread) const;
  [[nodiscard]] uint64_t resizes() const { return resizes_; }
  [[nodiscard]] uint64_t max_heap_bytes() const { return max_heap_bytes_; }
  [[nodiscard]] uint64_t moved_objects() const { return moved_objects_; }

 private:
  size_t stream_ = 0;
  std::vector<CollectionMark> marks_;
  uint64_t resizes_ = 0;
  uint64_t max_heap_bytes_ = 0;
  uint64_t moved_objects_ = 0;
};

}  // namespace telltale
