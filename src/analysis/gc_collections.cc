#include "analysis/gc_collections.h"

#include <algorithm>

namespace telltale {

void GcCollections::end(Generation& generation, Ticks from, Ticks to) {
  const Ticks spent = to > from ? to - from : 0;
  generation.total += spent;
  generation.max = std::max(generation.max, spent);
}

void GcCollections::on(const CollectionEvent& event) {
  if (event.generation >= kGenerations) return;
  if (event.step != CollectionStep::start && event.step != CollectionStep::end) return;
  Open& open = open_[{stream_, event.generation}];
  Generation& generation = generations_[event.generation];
  if (event.step == CollectionStep::start) {
    open.start = event.time;
    open.started = true;
    ++generation.collections;
  } else if (open.start) {
    end(generation, *open.start, event.time);
    open.start.reset();
  } else if (!open.started && !open.lone_end) {
    open.lone_end = event.time;
  }
}

void GcCollections::on(const HeapResized& event) {
  ++resizes_;
  max_heap_bytes_ = std::max(max_heap_bytes_, event.bytes);
}

void GcCollections::append(const GcCollections& next) {
  for (size_t i = 0; i < kGenerations; ++i) {
    generations_[i].collections += next.generations_[i].collections;
    generations_[i].total += next.generations_[i].total;
    generations_[i].max = std::max(generations_[i].max, next.generations_[i].max);
  }
  for (const auto& [key, theirs] : next.open_) {
    Open& ours = open_[key];
    if (theirs.lone_end && ours.start) {
      end(generations_[key.second], *ours.start, *theirs.lone_end);
      ours.start.reset();
    } else if (theirs.lone_end && !ours.started && !ours.lone_end) {
      ours.lone_end = theirs.lone_end;
    }
    if (theirs.started) ours.start = theirs.start;
    ours.started |= theirs.started;
  }
  resizes_ += next.resizes_;
  max_heap_bytes_ = std::max(max_heap_bytes_, next.max_heap_bytes_);
  moved_objects_ += next.moved_objects_;
}

}  // namespace telltale
