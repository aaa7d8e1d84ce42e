#include "analysis/heap_shots.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace telltale {
namespace {

template <typename T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }
}

}  // namespace

void HeapShots::on(const PieceEvent& event) {
  stream_ = event.stream;
  place_ = {event.offset, 0};
}

// The shot that objects belong to now: if none is open in this part, one that began before it.
HeapShots::OfThread& HeapShots::current() {
  if (shots_.empty() || shots_.back().stream != stream_) {
    shots_.emplace_back();
    shots_.back().stream = stream_;
  }
  return shots_.back();
}

void HeapShots::on(const HeapShotEvent& event) {
  ++place_.second;
  if (!event.begin) {
    OfThread& shot = current();
    shot.ended = true;
    shot.end = place_;
    return;
  }
  shots_.emplace_back();
  OfThread& shot = shots_.back();
  shot.stream = stream_;
  shot.begun = true;
  shot.begin = place_;
  shot.shot.begin = event.time;
}

void HeapShots::on(const HeapObjectEvent& event) {
  Shot& shot = current().shot;
  if (event.bytes != 0) {
    Sum& sum = shot.by_type[to_number(event.type)];
    ++sum.objects;
    sum.bytes += event.bytes;
    ++shot.objects;
    shot.bytes += event.bytes;
    if (with_references_) shot.all.push_back({event.object, event.type});
  }
  if (!with_references_) return;
  for (const HeapObjectEvent::Reference& reference : event.references)
    shot.references.push_back({reference.object, event.type});
}

void HeapShots::on(const HeapRootsEvent& event) {
  if (!with_references_) return;
  ++place_.second;
  Roots& told = roots_.emplace_back();
  told.place = place_;
  for (const HeapRootsEvent::Root& root : event.roots)
    told.roots.push_back({root.object, root.pinning});
}

void HeapShots::merge(OfThread& to, OfThread&& later) {
  to.shot.objects += later.shot.objects;
  to.shot.bytes += later.shot.bytes;
  for (const auto& [type, theirs] : later.shot.by_type) {
    Sum& sum = to.shot.by_type[type];
    sum.objects += theirs.objects;
    sum.bytes += theirs.bytes;
  }
  move_to_end(to.shot.all, later.shot.all);
  move_to_end(to.shot.references, later.shot.references);
  if (later.ended) {
    to.ended = true;
    to.end = later.end;
  }
}

void HeapShots::append(HeapShots&& next) {
  for (OfThread& theirs : next.shots_) {
    if (!theirs.begun) {
      const auto open = std::find_if(shots_.rbegin(), shots_.rend(), [&](const OfThread& shot) {
        return shot.stream == theirs.stream;
      });
      if (open != shots_.rend()) {
        merge(*open, std::move(theirs));
        continue;
      }
    }
    shots_.push_back(std::move(theirs));
  }
  move_to_end(roots_, next.roots_);
}

std::vector<HeapShots::Shot> HeapShots::take_shots() {
  // Objects outside of any shot belong to none.
  std::erase_if(shots_, [](const OfThread& shot) { return !shot.begun; });
  std::ranges::stable_sort(shots_, {}, [](const OfThread& shot) { return shot.shot.begin; });
  std::ranges::stable_sort(roots_, {}, &Roots::place);
  Place after{};  // the end of the shot before
  for (OfThread& shot : shots_) {
    const Place end = shot.ended ? shot.end : Place{~uint64_t{0}, 0};
    for (const Roots& told : roots_) {
      if (told.place <= after || told.place > end) continue;
      shot.shot.roots_since.insert(shot.shot.roots_since.end(), told.roots.begin(),
                                   told.roots.end());
      if (told.place >= shot.begin)
        shot.shot.roots.insert(shot.shot.roots.end(), told.roots.begin(), told.roots.end());
    }
    // Up to profiler 1.1 the roots of a shot stand before it.
    if (shot.shot.roots.empty()) shot.shot.roots = shot.shot.roots_since;
    after = end;
  }
  std::vector<Shot> shots;
  for (OfThread& shot : shots_) shots.push_back(std::move(shot.shot));
  shots_.clear();
  roots_.clear();
  return shots;
}

}  // namespace telltale
