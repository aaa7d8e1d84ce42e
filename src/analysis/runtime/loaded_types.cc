#include "analysis/runtime/loaded_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace telltale {

void LoadedTypes::on(const LoadEvent& event) {
  if (event.action != LoadEvent::Action::loaded || event.failed) return;
  if (event.kind == LoadEvent::Kind::type) {
    learn(classes_[event.id], Class{true, place_, std::string(event.name)});
  } else if (event.kind == LoadEvent::Kind::type_in_domain) {
    learn(vtables_[event.id], Vtable{true, place_, event.type, event.domain});
  }
}

void LoadedTypes::append(LoadedTypes&& next) {
  address_bits_ = std::min(address_bits_, next.address_bits_);
  for (auto& [id, theirs] : next.classes_) learn(classes_[id], std::move(theirs));
  for (const auto& [id, theirs] : next.vtables_) learn(vtables_[id], Vtable(theirs));
}

LoadedTypes::Type LoadedTypes::describe(uint64_t id) const {
  Type type{.type = class_of(id), .name = {}, .domain = 0};
  if (const Vtable* vtable = vtables_.find(id)) type.domain = vtable->domain;
  type.name = class_name(type.type);
  return type;
}

std::string LoadedTypes::name_or_address(uint64_t id) const {
  const Type type = describe(id);
  if (!type.name.empty()) return std::string(type.name);
  return fmt::format("#0x{:x}", address_in(type.type == 0 ? id : type.type, address_bits_));
}

}  // namespace telltale
