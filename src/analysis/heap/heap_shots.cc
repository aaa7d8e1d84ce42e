#include "analysis/heap/heap_shots.h"

#include <algorithm>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {
namespace {

// Numbers types in order of appearance: a pair of numbers then fits one key.
struct TypeNumbers {
  uint32_t number(uint64_t type) {
    if (last_ != 0 && types[last_ - 1] == type) return last_ - 1;  // often equal
    uint32_t& index = index_[type];
    if (index == 0) {
      types.push_back(type);
      index = static_cast<uint32_t>(types.size());
    }
    last_ = index;
    return index - 1;
  }
  std::vector<uint64_t> types;

 private:
  uint32_t last_ = 0;  // 1 + number
  AddressMap<uint32_t> index_;
};

}  // namespace

// The last shot of a thread, unless it has ended.
HeapShots::OfThread* HeapShots::open_in(size_t stream) {
  const size_t* last = last_.find(stream);
  return last == nullptr || shots_[*last - 1].ended ? nullptr : &shots_[*last - 1];
}

HeapShots::OfThread& HeapShots::add(OfThread&& shot) {
  shots_.push_back(std::move(shot));
  last_[shots_.back().stream] = shots_.size();
  return shots_.back();
}

// Finds the shot that objects belong to now: if none is open in this part, one that began before.
void HeapShots::go_on() {
  now_ = open_in(stream_);
  if (now_ != nullptr) return;
  OfThread shot;
  shot.stream = stream_;
  now_ = &add(std::move(shot));
}

// Some of the objects of the shot that is open now may be missing.
void HeapShots::lose() {
  go_on();
  now_->damaged = true;
  now_ = nullptr;
}

// Adds the sums of recent objects to their shot, before it is used otherwise.
void HeapShots::pause() {
  if (now_ == nullptr) return;
  recent_.flush_to(now_->by_type);
  now_ = nullptr;
}

void HeapShots::on(const HeapShotEvent& event) {
  ++place_.event;
  pause();
  if (!event.begin) {
    go_on();
    OfThread& shot = *std::exchange(now_, nullptr);
    shot.ended = true;
    return close(shot);
  }
  if (OfThread* open = open_in(stream_)) close(*open);
  OfThread shot;
  shot.stream = stream_;
  shot.begun = true;
  shot.begin = place_;
  shot.shot.begin = event.time;
  shot.shot.process = process_;
  add(std::move(shot));
}

void HeapShots::merge(OfThread& to, OfThread&& later) {
  for (const auto& [type, theirs] : later.by_type) to.by_type[type] += theirs;
  to.log.append(std::move(later.log));
}

void HeapShots::append(HeapShots&& next) {
  pause();
  next.pause();
  for (OfThread& theirs : next.shots_) {
    OfThread* open = open_in(theirs.stream);
    if (theirs.begun) {
      if (open != nullptr) close(*open);
      add(std::move(theirs));
    } else if (open != nullptr) {
      const bool ended = theirs.ended;
      open->damaged = open->damaged || theirs.damaged;
      merge(*open, std::move(theirs));
      open->ended = ended;
      if (ended) close(*open);
    }
  }
}

void HeapShots::close(OfThread& shot) const {
  if (shot.begun) sum_up(shot);
}

void HeapShots::sum_up(OfThread& shot) const {
  if (shot.summed) return;
  shot.summed = true;
  shot.shot.by_type.reserve(shot.by_type.size());
  for (const auto& [type, sum] : shot.by_type) {
    shot.shot.by_type.push_back({type, sum});
    shot.shot.objects += sum.objects;
    shot.shot.bytes += sum.bytes;
  }
  sort_rows(shot.shot.by_type, {}, &TypeSum::type);
  if (roots_ != nullptr) sum_up_references(shot);
  shot.by_type = AddressMap<Sum>();
}

void HeapShots::sum_up_references(OfThread& shot) const {
  const HeapObjectLog log = std::exchange(shot.log, {});
  const auto no_reference = [](uint64_t, uint64_t) {};
  TypeNumbers numbers;
  ObjectNumbers type_of(log.objects());  // 1 + the type's number
  DelayedLookups objects(type_of,
                         [&](uint32_t number, uint64_t object) { type_of[object] = number; });
  log.for_each(
      [&](uint64_t object, uint64_t type, uint64_t bytes) {
        if (bytes != 0) objects.add(object, numbers.number(type) + 1);
      },
      no_reference);
  objects.finish();
  AddressMap<uint64_t> counts;  // by the numbers of both types
  RecentSums<uint64_t> recent;
  DelayedLookups references(type_of, [&](uint64_t from, uint64_t object) {
    const uint64_t to = type_of.of(object);
    if (to != 0) ++recent.of((to - 1) << 32 | from, counts);
  });
  uint32_t from = 0;
  log.for_each([&](uint64_t, uint64_t type, uint64_t) { from = numbers.number(type); },
               [&](uint64_t, uint64_t object) { references.add(object, from); });
  references.finish();
  recent.flush_to(counts);
  shot.shot.links.reserve(counts.size());
  for (const auto& [pair, count] : counts)
    shot.shot.links.push_back(
        {numbers.types[pair >> 32], numbers.types[pair & 0xFFFF'FFFF], count});
  std::ranges::sort(shot.shot.links, {},
                    [](const Link& link) { return std::pair(link.to, link.from); });
  const HeapShotRoots::OfShot* roots = roots_->find(shot.begin);
  if (roots == nullptr) return;
  shot.shot.roots = roots->count;
  AddressMap<HeapShotRoots::Sum> by_type;
  for (const auto& [object, sum] : roots->by_object)
    if (const uint32_t type = type_of.of(object); type != 0)
      by_type[numbers.types[type - 1]].add(sum);
  for (const auto& [type, sum] : by_type) shot.shot.root_types.push_back({type, sum});
  sort_rows(shot.shot.root_types, {}, &TypeRoots::type);
}

HeapShots::Shots HeapShots::take_shots() {
  pause();
  std::erase_if(shots_, [](const OfThread& shot) { return !shot.begun; });
  sort_rows(shots_, {}, [](const OfThread& shot) { return shot.shot.begin; });
  Shots shots;
  for (size_t i = 0; i < shots_.size(); ++i) {
    OfThread& of_thread = shots_[i];
    sum_up(of_thread);
    of_thread.shot.number = i;
    of_thread.shot.stream = of_thread.stream;
    if (of_thread.ended && !of_thread.damaged) {
      shots.whole.push_back(std::move(of_thread.shot));
    } else {
      using Why = HeapShotLeftOut::Why;
      shots.in_part.push_back(
          {std::move(of_thread.shot), of_thread.ended ? Why::damaged : Why::unfinished});
    }
  }
  shots_.clear();
  last_.clear();
  return shots;
}

}  // namespace telltale
