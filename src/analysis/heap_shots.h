#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// What was alive in each heap shot, by type as the recording names it; on request also who refers
// to whom. docs/analysis/mono.md, "heapshot". A part: append() in the order of each thread's
// pieces; threads in any order.
class HeapShots {
 public:
  struct Sum {
    uint64_t objects = 0;
    uint64_t bytes = 0;
  };
  struct Object {
    ObjectId object{};
    TypeId type{};
  };
  struct Reference {
    ObjectId to{};
    TypeId from{};  // type of the object that refers
  };
  struct Root {
    ObjectId object{};
    bool pinning = false;
  };
  // With references, everything of the shot is held: memory goes with its objects.
  struct Shot {
    Ticks begin = 0;
    uint64_t objects = 0;
    uint64_t bytes = 0;
    AddressMap<Sum> by_type;
    std::vector<Object> all;
    std::vector<Reference> references;
    std::vector<Root> roots;        // reported for this shot
    std::vector<Root> roots_since;  // all since the shot before, these included
  };

  explicit HeapShots(bool with_references = false) : with_references_(with_references) {}

  void on(const PieceEvent& event);
  void on(const HeapShotEvent& event);
  void on(const HeapObjectEvent& event);
  void on(const HeapRootsEvent& event);
  void append(HeapShots&& next);

  // In order of time.
  [[nodiscard]] std::vector<Shot> take_shots();

 private:
  // A place in the file: piece, and events heard in it before.
  using Place = std::pair<uint64_t, uint64_t>;
  struct OfThread {
    Shot shot;
    size_t stream = 0;
    bool begun = false;  // else the shot began in an earlier piece
    bool ended = false;
    Place begin;
    Place end;
  };
  struct Roots {
    Place place;
    std::vector<Root> roots;
  };
  OfThread& current();
  static void merge(OfThread& to, OfThread&& later);

  bool with_references_;
  size_t stream_ = 0;
  Place place_;
  std::vector<OfThread> shots_;  // by thread in its order
  std::vector<Roots> roots_;
};

}  // namespace telltale
