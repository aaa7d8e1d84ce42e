#include "import/sampler/unit_sources.h"

#include <algorithm>
#include <array>
#include <set>

namespace telltale {

bool is_header(std::string_view file) {
  constexpr std::array<std::string_view, 12> kSuffixes = {
      ".h", ".H", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc", ".tpp", ".def"};
  return std::ranges::any_of(kSuffixes, [&](auto suffix) { return file.ends_with(suffix); });
}

std::map<std::string_view, std::string_view> unit_sources(
    const SamplerSites& sites, const std::vector<uint32_t>& build_sections) {
  std::map<std::string_view, std::set<std::string_view>> units_of_file;
  for (const uint32_t number : build_sections) {
    const sampler::SitesSection& section = *sites.sections()[number].sites;
    std::string_view last;  // rows of a file follow each other
    for (size_t row = 0; row < section.size(); ++row) {
      const std::string_view file = section.row(row).file();
      if (file != last && !is_header(file)) units_of_file[file].insert(section.unit);
      last = file;
    }
  }
  std::map<std::string_view, std::string_view> sources;
  for (const auto& [file, units] : units_of_file) {
    if (units.size() == 1) sources.try_emplace(*units.begin(), file);
  }
  return sources;
}

}  // namespace telltale
