#include "model/name_style.h"

#include <algorithm>

#include "model/short_name.h"

namespace telltale {

std::string styled_name(const FunctionInfo& function, NameStyle style) {
  if (function.linkage_name.empty() || style == NameStyle::full) return function.name;
  return style == NameStyle::mangled ? function.linkage_name : short_name(function.name);
}

const FunctionInfo& StyledNames::describe(FunctionId id) const {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = styled_.try_emplace(id);
  if (is_new) {
    place->second = names_.describe(id);
    place->second.name = styled_name(place->second, style_);
  }
  return place->second;
}

std::vector<FunctionId> StyledNames::described() const {
  const std::lock_guard lock(mutex_);
  std::vector<FunctionId> functions;
  for (const auto& [function, info] : styled_) functions.push_back(function);
  std::ranges::sort(functions);
  return functions;
}

}  // namespace telltale
