#include "analysis/heap/heap_shot_roots.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/sort_rows.h"

namespace telltale {
namespace {

void add_up(HeapShotRoots::OfShot& to, const HeapShotRoots::OfShot& from) {
  to.count += from.count;
  for (const auto& [object, sum] : from.by_object) to.by_object[object].add(sum);
}

}  // namespace

std::vector<HeapShotRoots::Extent> HeapShotExtents::shots() const {
  constexpr HeapPlace kNoPlace{~uint64_t{0}, 0};
  std::vector<HeapShotRoots::Extent> found;
  std::map<size_t, size_t> open;  // by stream: 1 + index into `found`
  for (const Mark& mark : marks_) {
    size_t& index = open[mark.stream];
    if (mark.what == Mark::What::loss) {
      if (index != 0) found[index - 1].damaged = true;
      continue;
    }
    if (index != 0) {
      found[index - 1].end = mark.place;
      found[index - 1].ended = mark.what == Mark::What::end;
    }
    index = 0;
    if (mark.what == Mark::What::end) continue;
    found.push_back(
        {.begin = mark.place, .end = kNoPlace, .stream = mark.stream, .time = mark.time});
    index = found.size();
  }
  sort_rows(found, {}, &HeapShotRoots::Extent::begin);
  // The world is stopped during a shot: only after damage does the next one begin before it ends.
  for (size_t i = 1; i < found.size(); ++i)
    found[i - 1].end = std::min(found[i - 1].end, found[i].begin);
  return found;
}

HeapShotRoots::HeapShotRoots(std::vector<Extent> shots, Since since)
    : shots_(std::move(shots)), since_(since) {
  for (size_t i = 0; i < shots_.size(); ++i) by_stream_[shots_[i].stream].push_back(i);
}

void HeapShotRoots::add(size_t stream, const HeapPlace& place, const HeapRootsEvent& event) {
  const auto of_stream = by_stream_.find(stream);
  if (of_stream == by_stream_.end()) return;
  // The first shot of the thread that ends after the roots.
  const auto index = std::ranges::upper_bound(of_stream->second, place, {},
                                              [this](size_t i) { return shots_[i].end; });
  if (index == of_stream->second.end()) return;
  Parts& parts = roots_[*index];
  OfShot& to = place >= shots_[*index].begin ? parts.inside : parts.before;
  to.count += event.roots.size();
  for (const HeapRootsEvent::Root& root : event.roots)
    to.by_object[to_number(root.object)].add({1, uint64_t{root.pinning}});
}

void HeapShotRoots::append(const HeapShotRoots& next) {
  for (const auto& [shot, parts] : next.roots_) {
    Parts& ours = roots_[shot];
    add_up(ours.before, parts.before);
    add_up(ours.inside, parts.inside);
  }
}

void HeapShotRoots::settle() {
  for (auto& [shot, parts] : roots_) {
    if (since_ == Since::shot_before || parts.inside.count == 0) add_up(parts.inside, parts.before);
    parts.before = OfShot();
  }
}

const HeapShotRoots::OfShot* HeapShotRoots::find(const HeapPlace& begin) const {
  const auto shot = std::ranges::lower_bound(shots_, begin, {}, &Extent::begin);
  if (shot == shots_.end() || shot->begin != begin) return nullptr;
  const auto found = roots_.find(static_cast<size_t>(shot - shots_.begin()));
  return found == roots_.end() ? nullptr : &found->second.inside;
}

}  // namespace telltale
