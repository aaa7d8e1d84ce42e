#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/calls/play_pieces.h"
#include "analysis/heap/heap_shot_roots.h"
#include "analysis/heap/heap_shots.h"
#include "base/problem.h"
#include "model/event_source.h"
#include "model/events.h"
#include "model/runtime_events.h"

namespace telltale {

// The references between the objects of heap shots, in a second reading of those shards that a
// first one has found to have heap events. Most shards of most recordings have none.
class HeapReferences {
 public:
  using Shards = std::vector<std::pair<size_t, size_t>>;  // stream, shard

  // What the first reading found in a shard. Call in order of stream and shard.
  void note(std::pair<size_t, size_t> shard, const HeapShotExtents& extents,
            const HeapShots& shots) {
    extents_.append(extents);
    if (extents.has_roots()) with_roots_.push_back(shard);
    if (!shots.empty()) with_shots_.push_back(shard);
  }

  // Heap shots with references; empty if there are no heap events.
  template <EventSource Source>
  [[nodiscard]] HeapShots collect(const Source& source, HeapShotRoots::Since since,
                                  size_t workers) const {
    ProblemLog same_again;  // the first reading found the same
    const HeapShotRoots none(extents_.shots(), since);
    HeapShotRoots all = none;
    if (!none.shots().empty()) {
      play_pieces(
          source, with_roots_, workers, [&] { return HeapShotRootsSink(none); },
          [&](HeapShotRootsSink&& part) { all.append(part.take()); }, same_again);
      all.settle();
    }
    const auto roots = std::make_shared<const HeapShotRoots>(std::move(all));
    HeapShots shots(roots);
    play_pieces(
        source, with_shots_, workers, [&] { return ShotsSink(roots); },
        [&](ShotsSink&& part) { shots.append(part.take()); }, same_again);
    return shots;
  }

 private:
  class ShotsSink : public IgnoreEvents {
   public:
    explicit ShotsSink(std::shared_ptr<const HeapShotRoots> roots) : shots_(std::move(roots)) {}
    [[nodiscard]] static EventDetails details() { return {.stacks = false, .references = true}; }
    void on(const PieceEvent& event) { shots_.on(event); }
    void loss(const LossEvent& event) { shots_.loss(event); }
    void on(const HeapShotEvent& event) { shots_.on(event); }
    void on(const HeapObjectEvent& event) { shots_.on(event); }
    void on(const HeapRootsEvent& event) { shots_.on(event); }
    HeapShots take() {
      shots_.end_piece();
      return std::move(shots_);
    }

   private:
    HeapShots shots_;
  };

  HeapShotExtents extents_;
  Shards with_roots_;
  Shards with_shots_;
};

}  // namespace telltale
