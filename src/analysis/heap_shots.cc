#include "analysis/heap_shots.h"

#include <algorithm>
#include <iterator>

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

// Numbers types as they come: pairs of them then fit one key.
struct TypeNumbers {
  uint64_t number(uint64_t type) {
    uint32_t& index = index_[type];
    if (index == 0) {
      types.push_back(type);
      index = static_cast<uint32_t>(types.size());
    }
    return index - 1;
  }
  std::vector<uint64_t> types;

 private:
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

// The shot that objects belong to now: if none is open in this part, one that began before it.
HeapShots::OfThread& HeapShots::current() {
  if (OfThread* open = open_in(stream_)) return *open;
  OfThread shot;
  shot.stream = stream_;
  return add(std::move(shot));
}

void HeapShots::on(const HeapShotEvent& event) {
  ++place_.event;
  if (!event.begin) {
    OfThread& shot = current();
    shot.ended = true;
    return close(shot);
  }
  if (OfThread* open = open_in(stream_)) close(*open);
  OfThread shot;
  shot.stream = stream_;
  shot.begun = true;
  shot.begin = place_;
  shot.shot.begin = event.time;
  add(std::move(shot));
}

void HeapShots::on(const HeapObjectEvent& event) {
  OfThread& of_thread = current();
  Shot& shot = of_thread.shot;
  if (event.bytes != 0) {
    Sum& sum = of_thread.by_type[to_number(event.type)];
    ++sum.objects;
    sum.bytes += event.bytes;
    ++shot.objects;
    shot.bytes += event.bytes;
    if (roots_ != nullptr) of_thread.objects.push_back({event.object, event.type});
  }
  if (roots_ == nullptr) return;
  for (const HeapObjectEvent::Reference& reference : event.references)
    of_thread.references.push_back({reference.object, event.type});
}

void HeapShots::merge(OfThread& to, OfThread&& later) {
  to.shot.objects += later.shot.objects;
  to.shot.bytes += later.shot.bytes;
  for (const auto& [type, theirs] : later.by_type) {
    Sum& sum = to.by_type[type];
    sum.objects += theirs.objects;
    sum.bytes += theirs.bytes;
  }
  move_to_end(to.objects, later.objects);
  move_to_end(to.references, later.references);
}

void HeapShots::append(HeapShots&& next) {
  for (OfThread& theirs : next.shots_) {
    OfThread* open = open_in(theirs.stream);
    if (theirs.begun) {
      if (open != nullptr) close(*open);
      add(std::move(theirs));
    } else if (open != nullptr) {
      const bool ended = theirs.ended;
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
  for (const auto& [type, sum] : shot.by_type) shot.shot.by_type.push_back({type, sum});
  std::ranges::sort(shot.shot.by_type, {}, &TypeSum::type);
  if (roots_ != nullptr) sum_up_references(shot);
  shot.by_type = AddressMap<Sum>();
  shot.objects = std::vector<Object>();
  shot.references = std::vector<Reference>();
}

void HeapShots::sum_up_references(OfThread& shot) const {
  AddressMap<uint64_t> type_of;  // by object
  for (const Object& object : shot.objects)
    type_of[to_number(object.object)] = to_number(object.type);
  TypeNumbers numbers;
  AddressMap<uint64_t> counts;  // by the numbers of both types
  for (const Reference& reference : shot.references) {
    const uint64_t* to = type_of.find(to_number(reference.to));
    if (to == nullptr) continue;
    ++counts[numbers.number(*to) << 32 | numbers.number(to_number(reference.from))];
  }
  shot.shot.links.reserve(counts.size());
  for (const auto& [pair, count] : counts)
    shot.shot.links.push_back(
        {numbers.types[pair >> 32], numbers.types[pair & 0xFFFF'FFFF], count});
  std::ranges::sort(shot.shot.links, {},
                    [](const Link& link) { return std::pair(link.to, link.from); });
  const HeapShotRoots::OfShot* roots = roots_->find(shot.begin);
  if (roots == nullptr) return;
  shot.shot.roots = roots->told;
  AddressMap<HeapShotRoots::Sum> by_type;
  for (const auto& [object, sum] : roots->by_object)
    if (const uint64_t* type = type_of.find(object)) by_type[*type].add(sum);
  for (const auto& [type, sum] : by_type) shot.shot.root_types.push_back({type, sum});
  std::ranges::sort(shot.shot.root_types, {}, &TypeRoots::type);
}

HeapShots::Shots HeapShots::take_shots() {
  std::erase_if(shots_, [](const OfThread& shot) { return !shot.begun; });
  std::ranges::stable_sort(shots_, {}, [](const OfThread& shot) { return shot.shot.begin; });
  Shots shots;
  for (size_t i = 0; i < shots_.size(); ++i) {
    OfThread& of_thread = shots_[i];
    sum_up(of_thread);
    of_thread.shot.number = i;
    of_thread.shot.stream = of_thread.stream;
    (of_thread.ended ? shots.whole : shots.unfinished).push_back(std::move(of_thread.shot));
  }
  shots_.clear();
  last_.clear();
  return shots;
}

}  // namespace telltale
