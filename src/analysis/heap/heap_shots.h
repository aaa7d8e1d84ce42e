#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/heap/heap_object_log.h"
#include "analysis/heap/heap_shot_roots.h"
#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The live objects in each heap shot, by type as the recording names it; on request also the
// references between types. docs/analysis/mono.md, "heapshot". A part: append() in the order of
// each thread's pieces; threads in any order. Memory depends on the number of types in each shot
// and, with references, on the number of objects of the shots that have not ended yet.
class HeapShots {
 public:
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
    Sum& operator+=(const Sum& other) {
      objects += other.objects;
      bytes += other.bytes;
      return *this;
    }
  };
  struct TypeSum {
    uint64_t type = 0;  // TypeId's number
    Sum sum;
  };
  // References from objects of one type to those of another.
  struct Link {
    uint64_t to = 0;
    uint64_t from = 0;
    uint64_t count = 0;
  };
  struct TypeRoots {
    uint64_t type = 0;
    HeapShotRoots::Sum roots;  // that refer to its objects
  };
  struct Shot {
    size_t number = 0;   // from 0, of all shots that begin in the recording, in order of time
    size_t stream = 0;   // the thread with its events
    size_t process = 0;  // EventStream::process
    Ticks begin = 0;
    uint64_t objects = 0;
    uint64_t bytes = 0;
    std::vector<TypeSum> by_type;  // by type
    // With references; by type, without those to objects outside the shot.
    std::vector<Link> links;
    std::vector<TypeRoots> root_types;
    uint64_t roots = 0;  // recorded, to any object
  };

  struct LeftOut {
    Shot shot;
    HeapShotLeftOut::Why why{};
  };
  struct Shots {
    std::vector<Shot> whole;       // in order of time
    std::vector<LeftOut> in_part;  // unfinished or damaged; in order of time
  };

  // With `roots`: include references.
  explicit HeapShots(std::shared_ptr<const HeapShotRoots> roots = nullptr)
      : roots_(std::move(roots)) {}

  void on(const PieceEvent& event) {
    pause();
    stream_ = event.stream;
    process_ = event.process;
    place_ = {event.offset, 0};
    if (event.after_loss) lose();
  }
  void loss(const LossEvent&) { lose(); }
  void on(const HeapShotEvent& event);
  [[gnu::always_inline]] void on(const HeapObjectEvent& event) {
    if (now_ == nullptr) [[unlikely]]
      go_on();
    if (event.bytes != 0) [[likely]] {
      Sum& sum = recent_.of(to_number(event.type), now_->by_type);
      ++sum.objects;
      sum.bytes += event.bytes;
    }
    if (roots_ != nullptr) [[unlikely]]
      log(event);
  }
  void on(const HeapRootsEvent&) { ++place_.event; }
  // Call after all events of a piece.
  void end_piece() { pause(); }
  void append(HeapShots&& next);

  // Whether there was no event of a heap shot so far.
  [[nodiscard]] bool empty() const { return shots_.empty(); }
  // Objects outside any shot are ignored.
  [[nodiscard]] Shots take_shots();

 private:
  struct OfThread {
    Shot shot;
    AddressMap<Sum> by_type;
    HeapObjectLog log;  // with references
    size_t stream = 0;
    bool begun = false;  // otherwise the shot began in an earlier piece
    bool ended = false;  // its end is recorded; otherwise the file or the next shot ended it
    bool damaged = false;
    bool summed = false;  // its objects are released
    HeapPlace begin;
  };
  // Takes a copy: an event whose address is passed on is stored in memory, whether logged or not.
  void log(HeapObjectEvent event) { now_->log.add(event); }
  [[nodiscard]] OfThread* open_in(size_t stream);
  void go_on();
  void lose();
  void pause();
  OfThread& add(OfThread&& shot);
  static void merge(OfThread& to, OfThread&& later);
  // Completes a shot of which no more events follow.
  void close(OfThread& shot) const;
  void sum_up(OfThread& shot) const;
  void sum_up_references(OfThread& shot) const;

  std::shared_ptr<const HeapShotRoots> roots_;
  size_t stream_ = 0;
  size_t process_ = 0;
  HeapPlace place_;
  std::vector<OfThread> shots_;  // by thread, each in its order
  AddressMap<size_t> last_;      // by stream: 1 + index into shots_
  OfThread* now_ = nullptr;      // the current shot; null: look it up again
  RecentSums<Sum> recent_;       // of its objects
};

}  // namespace telltale
