#include "analysis/heap/object_tracking.h"

#include <utility>

namespace telltale {

ObjectTracking::ObjectTracking(TrackedObjects wanted, std::function<std::string(TypeId)> type_name)
    : wanted_(std::move(wanted)),
      type_name_(std::move(type_name)),
      addresses_(wanted_.addresses.begin(), wanted_.addresses.end()) {
  // An object that existed before the recording is followed from its address on.
  for (const uint64_t address : wanted_.addresses) at_[address] = ++objects_;
}

ObjectTracking::Line& ObjectTracking::add(uint64_t object, What what, Ticks time,
                                          uint64_t address) {
  told_.insert(object);
  Line& line = lines_.emplace_back();
  line.object = object;
  line.what = what;
  line.time = time;
  line.address = address;
  return line;
}

bool ObjectTracking::type_is_wanted(TypeId type) {
  const auto [known, is_new] = types_.try_emplace(to_number(type));
  if (is_new) known->second = type_name_(type).find(wanted_.type_part) != std::string::npos;
  return known->second;
}

bool ObjectTracking::is_wanted(const AllocationEvent& event) {
  return addresses_.contains(to_number(event.object)) ||
         (wanted_.min_bytes != 0 && event.bytes >= wanted_.min_bytes) ||
         (!wanted_.type_part.empty() && type_is_wanted(event.type));
}

void ObjectTracking::on(const AllocationEvent& event) {
  const uint64_t address = to_number(event.object);
  const auto old = at_.find(address);
  if (old != at_.end() && !wanted_.by_address) {
    // Another object is allocated in its place, so it is gone; unless it has no events yet.
    if (told_.contains(old->second)) add(old->second, What::gone, event.time, address);
    at_.erase(old);
  }
  const bool by_address = wanted_.by_address && at_.contains(address);
  if (!by_address && !is_wanted(event)) return;
  if (!by_address) at_[address] = ++objects_;
  Line& line = add(at_[address], What::created, event.time, address);
  line.type = event.type;
  line.bytes = event.bytes;
  line.stack.assign(event.stack.functions.begin(), event.stack.functions.end());
}

void ObjectTracking::on(const ObjectsMoved& event) {
  if (at_.empty() && addresses_.empty()) return;
  moved_.clear();
  for (const ObjectsMoved::Move& move : event.moves) {
    const uint64_t from = to_number(move.from);
    const uint64_t to = to_number(move.to);
    const auto here = at_.find(from);
    if (here != at_.end()) {
      add(here->second, What::moved, event.time, from).other = to;
      if (wanted_.by_address) continue;
      moved_.emplace_back(to, here->second);
      at_.erase(here);
    } else if (wanted_.by_address ? at_.contains(to) : addresses_.contains(to)) {
      const uint64_t object = wanted_.by_address ? at_[to] : ++objects_;
      add(object, What::came, event.time, to).other = from;
      if (!wanted_.by_address) moved_.emplace_back(to, object);
    }
  }
  // All moves of a collection happen at once: one object may take the place of another.
  for (const auto& [address, object] : moved_) at_[address] = object;
}

void ObjectTracking::on(const HeapObjectEvent& event) {
  for (const HeapObjectEvent::Reference& reference : event.references) {
    const auto here = at_.find(to_number(reference.object));
    if (here == at_.end()) continue;
    Line& line = add(here->second, What::referenced, event.time, here->first);
    line.other = to_number(event.object);
    line.type = event.type;
  }
}

void ObjectTracking::on(const HandleEvent& event) {
  if (!event.created) return;
  const auto here = at_.find(to_number(event.object));
  if (here == at_.end()) return;
  Line& line = add(here->second, What::handle, event.time, here->first);
  line.handle = event.handle;
  line.stack.assign(event.stack.functions.begin(), event.stack.functions.end());
}

}  // namespace telltale
