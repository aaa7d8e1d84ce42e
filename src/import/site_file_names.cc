#include "import/site_file_names.h"

#include <string_view>
#include <utility>

namespace telltale {
namespace {

using Function = PathFacts::Function;
using Place = PathFacts::Place;

// Calls use(folder, rest) for each "folder/rest" of the file's name, the shortest folder first,
// until it returns true. Returns whether it did.
template <typename Use>
bool split_name(std::string_view file, Use use) {
  for (size_t at = file.find('/'); at != std::string_view::npos; at = file.find('/', at + 1)) {
    if (use(file.substr(0, at), file.substr(at + 1))) return true;
  }
  return false;
}

class Renamed {
 public:
  explicit Renamed(const SiteFileNames& names) : names_(names) {}
  [[nodiscard]] Function of(const Function& function) const {
    return {function.first, names_.name_of(function.second)};
  }
  [[nodiscard]] Place of(const Place& place) const {
    return {names_.name_of(place.first), place.second};
  }
  [[nodiscard]] PathFacts::Deed of(const PathFacts::Deed& deed) const {
    PathFacts::Deed renamed{of(deed.function), {}};
    for (const Place& place : deed.places) renamed.places.push_back(of(place));
    return renamed;
  }

 private:
  const SiteFileNames& names_;
};

}  // namespace

SiteFiles relative_site_files(const SamplerSites& sites) {
  SiteFiles files;
  for (const SamplerSites::Section& section : sites.sections()) {
    for (size_t i = 0; i < section.sites->size(); ++i) {
      const std::string_view file = section.sites->row(i).file();
      if (!file.empty() && !file.starts_with('/') && !files.contains(file)) files.emplace(file);
    }
  }
  return files;
}

SiteFileNames::SiteFileNames(const SiteFiles& sites, const std::set<std::string>& files) {
  std::set<std::string, std::less<>> folders;
  for (const std::string& file : files) {
    split_name(file, [&](std::string_view folder, std::string_view rest) {
      if (!sites.contains(rest)) return false;
      folders.emplace(folder);
      names_.emplace(file, rest);
      return true;
    });
  }
  for (const std::string& file : files) {
    if (names_.contains(file)) continue;
    std::string_view innermost;
    split_name(file, [&](std::string_view folder, std::string_view rest) {
      if (folders.contains(folder)) innermost = rest;
      return false;
    });
    if (!innermost.empty()) names_.emplace(file, innermost);
  }
}

const std::string& SiteFileNames::name_of(const std::string& file) const {
  const auto found = names_.find(file);
  return found == names_.end() ? file : found->second;
}

void collect_files(const PathFacts& facts, std::set<std::string>& files) {
  for (const Function& function : facts.decoded) files.insert(function.second);
  for (const auto& [function, places] : facts.ahead) {
    for (const Place& place : places) files.insert(place.first);
  }
  for (const PathFacts::Kind kind : PathFacts::kKinds) {
    for (const auto& [deed, said] : facts.of(kind)) collect_files(deed, files);
  }
}

void collect_files(const PathFacts::Deed& deed, std::set<std::string>& files) {
  files.insert(deed.function.second);
  for (const Place& place : deed.places) files.insert(place.first);
}

PathFacts::Deed rename_files(const SiteFileNames& names, const PathFacts::Deed& deed) {
  return Renamed(names).of(deed);
}

void rename_files(const SiteFileNames& names, PathFacts& facts) {
  const Renamed renamed(names);
  PathFacts result;
  for (const PathFacts::Kind kind : PathFacts::kKinds) {
    for (const auto& [deed, said] : facts.of(kind)) result.add(kind, renamed.of(deed), said);
  }
  for (const Function& function : facts.decoded) result.decoded.insert(renamed.of(function));
  for (const auto& [function, places] : facts.ahead) {
    std::set<Place>& ahead = result.ahead[renamed.of(function)];
    for (const Place& place : places) ahead.insert(renamed.of(place));
  }
  result.stack = std::move(facts.stack);
  facts = std::move(result);
}

}  // namespace telltale
