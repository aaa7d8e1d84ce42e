#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/runtime/address_map.h"
#include "model/events.h"
#include "model/runtime_events.h"

namespace telltale {

// A place in the file: a piece, and the number of its heap shot and root events up to there.
struct HeapPlace {
  uint64_t piece = 0;
  uint64_t event = 0;
  auto operator<=>(const HeapPlace&) const = default;
};

// A heap shot that is left out of an answer.
struct HeapShotLeftOut {
  enum class Why : uint8_t {
    unfinished,  // its end is missing; it is unknown how much of it is recorded
    damaged,     // a part of it is missing, or may be
    at_exit,     // taken when its program ended, after it had released its data
  };
  size_t number = 0;  // HeapShots::Shot::number
  Ticks begin = 0;
  Why why{};
};
constexpr std::string_view name_of(HeapShotLeftOut::Why why) {
  switch (why) {
    case HeapShotLeftOut::Why::unfinished:
      return "unfinished";
    case HeapShotLeftOut::Why::damaged:
      return "damaged";
    case HeapShotLeftOut::Why::at_exit:
      break;
  }
  return "at exit";
}

// Assigns roots to heap shots. docs/analysis/mono.md, "heapshot". Memory depends on the number of
// heap shots and of distinct objects that are roots of each.
class HeapShotRoots {
 public:
  struct Sum {
    uint64_t all = 0;
    uint64_t pinning = 0;
    void add(const Sum& other) {
      all += other.all;
      pinning += other.pinning;
    }
  };
  struct OfShot {
    uint64_t count = 0;         // roots, to any object
    AddressMap<Sum> by_object;  // by ObjectId
  };
  // Which roots belong to a shot. A collection's roots and its shot are recorded by the same
  // thread: those that this thread recorded between the shot's begin and end (if there are none, as
  // up to profiler 1.1, those since its previous shot), or always all since its previous shot.
  enum class Since : uint8_t { its_begin, shot_before };

  // Shots, in file order. A shot without an end extends to the beginning of the next one.
  struct Extent {
    HeapPlace begin;
    HeapPlace end;
    size_t stream = 0;
    Ticks time = 0;        // of its begin
    bool ended = false;    // its end is recorded
    bool damaged = false;  // a part of it is missing, or may be
  };
  HeapShotRoots(std::vector<Extent> shots, Since since);

  void add(size_t stream, const HeapPlace& place, const HeapRootsEvent& event);
  void append(const HeapShotRoots& next);
  // Drops roots that are not requested; call after all events.
  void settle();

  [[nodiscard]] const std::vector<Extent>& shots() const { return shots_; }
  // Roots of the shot that begins there. REQUIRES: settled.
  [[nodiscard]] const OfShot* find(const HeapPlace& begin) const;

 private:
  struct Parts {
    OfShot before;  // up to its begin, since the previous shot
    OfShot inside;
  };
  std::vector<Extent> shots_;
  std::map<size_t, std::vector<size_t>> by_stream_;  // indices into shots_, in file order
  Since since_;
  std::map<size_t, Parts> roots_;  // by shot; only those with roots
};

// Finds the begins and ends of heap shots. A part: append() in the order of each thread's pieces.
class HeapShotExtents : public IgnoreEvents {
 public:
  void on(const PieceEvent& event) {
    stream_ = event.stream;
    place_ = {event.offset, 0};
    if (event.after_loss) marks_.push_back({stream_, Mark::What::loss, place_, event.time});
  }
  void on(const HeapShotEvent& event) {
    ++place_.event;
    marks_.push_back(
        {stream_, event.begin ? Mark::What::begin : Mark::What::end, place_, event.time});
  }
  void loss(const LossEvent& event) {
    marks_.push_back({stream_, Mark::What::loss, place_, event.time});
  }
  void on(const HeapRootsEvent&) {
    ++place_.event;
    has_roots_ = true;
  }
  void append(const HeapShotExtents& next) {
    has_roots_ = has_roots_ || next.has_roots_;
    marks_.insert(marks_.end(), next.marks_.begin(), next.marks_.end());
  }
  [[nodiscard]] std::vector<HeapShotRoots::Extent> shots() const;
  [[nodiscard]] bool has_roots() const { return has_roots_; }

 private:
  struct Mark {
    enum class What : uint8_t { begin, end, loss };
    size_t stream = 0;
    What what{};
    HeapPlace place;
    Ticks time = 0;
  };
  size_t stream_ = 0;
  HeapPlace place_;
  bool has_roots_ = false;
  std::vector<Mark> marks_;
};

class HeapShotRootsSink : public IgnoreEvents {
 public:
  explicit HeapShotRootsSink(HeapShotRoots roots) : roots_(std::move(roots)) {}
  void on(const PieceEvent& event) {
    stream_ = event.stream;
    place_ = {event.offset, 0};
  }
  void on(const HeapShotEvent&) { ++place_.event; }
  void on(const HeapRootsEvent& event) {
    ++place_.event;
    roots_.add(stream_, place_, event);
  }
  HeapShotRoots take() { return std::move(roots_); }

 private:
  size_t stream_ = 0;
  HeapPlace place_;
  HeapShotRoots roots_;
};

}  // namespace telltale
