#include "import/merged_names.h"

#include <fmt/format.h>

#include <utility>

namespace telltale {

IdMap MergedNames::add(const std::shared_ptr<const RecordedNames>& names) {
  IdMap map;
  map.identity_ = false;
  if (names == nullptr) return map;
  const xray::SideRecord& record = names->record();
  files_.push_back(names);
  const auto key_of = [](const xray::SideObject& object) {
    return ObjectKey(object.path, object.build_id);
  };
  for (const xray::SideObject& object : record.objects) {
    if (object.functions == 0) continue;
    const auto [place, is_new] =
        id_bases_.try_emplace(std::pair(key_of(object), object.functions), next_id_);
    const uint32_t base = place->second;
    if (is_new) {
      if (object.functions > xray::kFirstAssignedId - 1 - next_id_) {
        id_bases_.erase(place);
        continue;
      }
      owners_.push_back({names.get(), object.id_base - base});
      owner_by_id_.set(uint64_t{base} + 1, uint64_t{base} + object.functions + 1,
                       owners_.size() - 1);
      next_id_ += object.functions;
    }
    map.ranges_.set(uint64_t{object.id_base} + 1, uint64_t{object.id_base} + object.functions + 1,
                    base - object.id_base);
  }
  for (const xray::SideFunction& function : record.functions) {
    if (function.object == xray::kNoObject || next_assigned_ >= IdMap::kUnexplained) continue;
    const xray::SideObject& object = record.objects[function.object];
    // The first file's functions keep their ids, of several the first, so that answers about one
    // file name the ids that its records have.
    const bool keeps =
        files_.size() == 1 && function.id >= next_assigned_ && function.id < IdMap::kUnexplained;
    const uint32_t number = keeps ? function.id : next_assigned_;
    const auto [place, is_new] = assigned_.try_emplace(
        std::pair(key_of(object), function.address - object.load_bias), number);
    if (is_new) {
      owners_.push_back({names.get(), function.id - number});
      owner_by_id_.set(number, uint64_t{number} + 1, owners_.size() - 1);
      next_assigned_ = number + 1;
    }
    map.single_[function.id] = place->second;
  }
  for (const xray::SideName& name : record.names)
    kept_.try_emplace(map(FunctionId{name.id}), names.get(), FunctionId{name.id});
  return map;
}

const FunctionInfo& MergedNames::describe(FunctionId id) const {
  const uint32_t number = to_number(id);
  if (const std::optional<size_t> owner = owner_by_id_.find(number)) {
    const FunctionInfo& info =
        owners_[*owner].names->describe(FunctionId{number + owners_[*owner].base});
    const auto kept = kept_.find(id);
    if (!info.linkage_name.empty() || kept == kept_.end()) return info;
    return kept->second.first->describe(kept->second.second);
  }
  const std::lock_guard lock(mutex_);
  FunctionInfo& info = unexplained_[id];
  if (info.name.empty()) info.name = fmt::format("#{}", number & ~IdMap::kUnexplained);
  return info;
}

}  // namespace telltale
