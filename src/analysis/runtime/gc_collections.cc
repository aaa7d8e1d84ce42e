#include "analysis/runtime/gc_collections.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/sort_rows.h"

namespace telltale {

std::vector<GcCollection> pair_collections(std::vector<CollectionMark> marks,
                                           std::span<const EventStream> streams, EndsTold ends) {
  sort_rows(marks, {}, &CollectionMark::time);
  const bool any = ends == EndsTold::by_any_thread;
  std::map<std::tuple<size_t, size_t, uint8_t>, std::optional<CollectionMark>> open;
  std::vector<GcCollection> collections;
  for (const CollectionMark& mark : marks) {
    auto& begun = open[{streams[mark.stream].process, any ? 0 : mark.stream + 1, mark.generation}];
    if (mark.begin) {
      begun = mark;
    } else if (begun) {
      collections.push_back({begun->time, mark.time, begun->stream, mark.generation});
      if (any) begun.reset();
    } else if (!any) {  // mprof-report assumes that it began at time zero
      collections.push_back({0, mark.time, mark.stream, mark.generation});
    }
  }
  sort_rows(collections, {}, &GcCollection::begin);
  return collections;
}

void GcCollections::on(const CollectionEvent& event) {
  if (event.generation >= kGenerations) return;
  if (event.step != CollectionStep::start && event.step != CollectionStep::end) return;
  marks_.push_back({event.time, stream_, event.generation, event.step == CollectionStep::start});
}

void GcCollections::on(const HeapResized& event) {
  ++resizes_;
  max_heap_bytes_ = std::max(max_heap_bytes_, event.bytes);
}

void GcCollections::append(const GcCollections& next) {
  marks_.insert(marks_.end(), next.marks_.begin(), next.marks_.end());
  resizes_ += next.resizes_;
  max_heap_bytes_ = std::max(max_heap_bytes_, next.max_heap_bytes_);
  moved_objects_ += next.moved_objects_;
}

std::array<GcCollections::Generation, GcCollections::kGenerations> GcCollections::generations(
    std::span<const EventStream> streams, EndsTold ends) const {
  std::array<Generation, kGenerations> all{};
  for (const CollectionMark& mark : marks_)
    all[mark.generation].collections += static_cast<uint64_t>(mark.begin);
  for (const GcCollection& one : pair_collections(marks_, streams, ends)) {
    Generation& generation = all[one.generation];
    ++generation.finished;
    generation.total += one.end - one.begin;
    generation.max = std::max(generation.max, one.end - one.begin);
  }
  return all;
}

}  // namespace telltale
