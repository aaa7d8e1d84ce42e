#include "import/mono/mono_types.h"

#include <fmt/format.h>

namespace telltale {

void MonoTypes::add(const mono::Metadata& metadata, uint64_t address_tag) {
  using Action = mono::Metadata::Action;
  if (metadata.action == Action::start_unload || metadata.action == Action::end_unload) return;
  const uint64_t id = metadata.pointer ^ address_tag;
  switch (metadata.kind) {
    case mono::MetadataKind::type:
      classes_[id] = {metadata.name, metadata.image ^ address_tag};
      break;
    case mono::MetadataKind::vtable:
      vtables_[id] = {metadata.type ^ address_tag, metadata.domain};
      break;
    case mono::MetadataKind::image:
      images_[id] = metadata.name;
      break;
    default:
      break;
  }
}

void MonoTypes::merge(const MonoTypes& later) {
  for (const auto& [id, what] : later.classes_) classes_[id] = what;
  for (const auto& [id, what] : later.vtables_) vtables_[id] = what;
  for (const auto& [id, what] : later.images_) images_[id] = what;
}

TypeInfo MonoTypes::describe(TypeId id) const {
  TypeInfo info{.type = id, .name = {}, .image = {}};
  if (const auto vtable = vtables_.find(to_number(id)); vtable != vtables_.end()) {
    info.type = TypeId{vtable->second.type};
    info.domain = vtable->second.domain;
  }
  const auto found = classes_.find(to_number(info.type));
  if (found == classes_.end()) {
    info.name = fmt::format("#0x{:x}", address_in(to_number(info.type), address_bits_));
    return info;
  }
  info.known = true;
  info.name = found->second.name;
  if (const auto image = images_.find(found->second.image); image != images_.end())
    info.image = image->second;
  return info;
}

}  // namespace telltale
