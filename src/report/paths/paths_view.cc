#include "report/paths/paths_view.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/function_names.h"
#include "model/short_name.h"
#include "program/demangle.h"

namespace telltale {

bool is_system_header(std::string_view path) {
  constexpr auto kFolders =
      std::to_array<std::string_view>({"/usr/include/", "/usr/lib/", "/usr/local/include/"});
  // Of compilers in any place.
  constexpr auto kParts = std::to_array<std::string_view>({"/include/c++/", "/lib/clang/"});
  const std::string file = std::filesystem::path(path).lexically_normal().string();
  return std::ranges::any_of(kFolders, [&](auto folder) { return file.starts_with(folder); }) ||
         (file.starts_with('/') &&
          std::ranges::any_of(kParts, [&](auto part) { return file.contains(part); }));
}

const std::string& ViewedNames::of(const std::string& name, const std::string& linkage_name) {
  const auto [known, is_new] = by_name_.try_emplace(name + '\0' + linkage_name);
  if (is_new) {
    FunctionInfo function;
    function.name = style_ == NameStyle::short_names ? without_copy(name) : name;
    function.linkage_name = linkage_name;
    known->second = styled_name(function, style_);
  }
  return known->second;
}

std::string others_at_address(const FramePaths& frame, ViewedNames& names) {
  std::string all;
  for (const FramePaths::Function& other : frame.same_address) {
    if (!all.empty()) all += ", ";
    all += names.of(other.name, other.linkage_name);
    if (!other.file.empty()) all += " in " + std::filesystem::path(other.file).filename().string();
  }
  return all;
}

const std::string& ViewedNames::beside_line(const std::string& linkage_name) {
  const auto [known, is_new] = by_linkage_.try_emplace(linkage_name);
  if (is_new) {
    const std::string name = demangle(linkage_name);
    known->second =
        style_ == NameStyle::short_names ? bare_name(without_copy(name)) : of(name, linkage_name);
  }
  return known->second;
}

}  // namespace telltale
