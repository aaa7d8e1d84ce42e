#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "model/runtime_events.h"

namespace telltale {

// How often the garbage collector ran and how long, by generation; what it did to the heap.
// docs/analysis/mono.md, "gc". A part: hears the events of a piece of a thread, and is then put
// together with append(), in the order of each thread's pieces; threads in any order.
class GcCollections {
 public:
  static constexpr size_t kGenerations = 3;
  // A collection's time is from its start to its end, the stop of the world not included.
  struct Generation {
    uint64_t collections = 0;  // that began
    Ticks total = 0;           // of those that ended
    Ticks max = 0;
  };

  void on(const PieceEvent& event) { stream_ = event.stream; }
  void on(const CollectionEvent& event);
  void on(const HeapResized& event);
  void on(const ObjectsMoved& event) { moved_objects_ += event.moves.size(); }
  void append(const GcCollections& next);

  [[nodiscard]] const std::array<Generation, kGenerations>& generations() const {
    return generations_;
  }
  [[nodiscard]] uint64_t resizes() const { return resizes_; }
  [[nodiscard]] uint64_t max_heap_bytes() const { return max_heap_bytes_; }
  [[nodiscard]] uint64_t moved_objects() const { return moved_objects_; }

 private:
  struct Open {
    std::optional<Ticks> start;     // of the last collection that has begun
    std::optional<Ticks> lone_end;  // an end that came before any start of the piece
    bool started = false;           // there was a start
  };
  void end(Generation& generation, Ticks from, Ticks to);

  size_t stream_ = 0;
  std::map<std::pair<size_t, size_t>, Open> open_;  // by stream and generation
  std::array<Generation, kGenerations> generations_{};
  uint64_t resizes_ = 0;
  uint64_t max_heap_bytes_ = 0;
  uint64_t moved_objects_ = 0;
};

}  // namespace telltale
