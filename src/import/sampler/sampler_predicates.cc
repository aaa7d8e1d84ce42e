#include "import/sampler/sampler_predicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "formats/sampler/counter_rows.h"
#include "formats/sampler/tag.h"
#include "import/sampler/unit_sources.h"

namespace telltale {
namespace {

// Schemes by the letter that analyses use (formats/sampler/wire.h).
bool has_complements(const sampler::SchemeLayout& scheme) {
  return scheme.code == 'R' || scheme.code == 'S' || scheme.code == 'F' || scheme.code == 'G';
}

std::string_view relation(size_t counter, bool complement) {
  constexpr std::string_view kRelations[] = {"<", "==", ">"};
  constexpr std::string_view kComplements[] = {">=", "!=", "<="};
  return complement ? kComplements[counter] : kRelations[counter];
}

std::string compare(const sampler::SiteRow& row, std::string_view relation) {
  const std::string_view left = row.column(0);
  const std::string_view right = row.column(3);
  if (left == right)
    return fmt::format("new value of {} {} old value of {}", left, relation, right);
  return fmt::format("{} {} {}", left, relation, right);
}

// An lvalue with how it is accessed.
std::string access(const sampler::SiteRow& row) {
  return fmt::format("{} of {}", row.column(1), row.column(0));
}

std::string unref_words(const sampler::SiteRow& row, size_t counter, bool complement) {
  constexpr size_t kNoObject = 3;
  const std::string_view argument = row.column(0);
  if (counter == kNoObject)
    return fmt::format("{} is {} GObject", argument, complement ? "a" : "not a");
  constexpr std::string_view kCounts[] = {"== 0", "== 1", "> 1"};
  return fmt::format("reference count of {} {}{}", argument, complement ? "not " : "",
                     kCounts[counter]);
}

// Sites do not say which variables are pointers.
PredicateWords::Compares compares(const sampler::SchemeLayout& scheme, const sampler::SiteRow& row,
                                  size_t counter) {
  constexpr size_t kEqual = 1;
  if (scheme.code != 'S' || row.column(4) == "const")
    return PredicateWords::Compares::nothing_or_constant;
  return counter == kEqual ? PredicateWords::Compares::equality_of_two
                           : PredicateWords::Compares::order_of_two;
}

std::string words_of(const sampler::SchemeLayout& scheme, const sampler::SiteRow& row,
                     size_t counter, bool complement) {
  const std::string_view first = row.column(0);
  switch (scheme.code) {
    case 'B':
      return fmt::format("{} is {}", first, counter == 0 ? "FALSE" : "TRUE");
    case 'R':
      return fmt::format("{} {} 0", first, relation(counter, complement));
    case 'S':
      return compare(row, relation(counter, complement));
    case 'F':
      return fmt::format("{} is {}{}", first, complement ? "not " : "",
                         scheme.counter_names[counter]);
    case 'G':
      return unref_words(row, counter, complement);
    case 'E':
      return fmt::format("{} entered", row.function());
    case 'V':
      return fmt::format("{} executed", first);
    case 'I':
      return access(row);
    case 'Z':
      return fmt::format("{} {}", first, scheme.counter_names[counter]);
    case 'Y':
      return fmt::format("{} {}", scheme.counter_names[counter], first);
    default:  // A, C, W
      return fmt::format("{}: {}", access(row), scheme.counter_names[counter]);
  }
}

}  // namespace

SamplerPredicates::SamplerPredicates(const SamplerSites& sites) : sites_(&sites) {
  for (const SamplerSites::Section& section : sites.sections()) {
    const sampler::SchemeLayout* scheme = sampler::find_scheme(section.sites->scheme);
    if (scheme == nullptr || scheme->values == sampler::Values::bounds) {
      group_of_section_.push_back(kNoGroup);
      if (scheme != nullptr && section.sites->size() != 0) {
        bounds_.emplace(listed_ranges_, &section);
        listed_ranges_ += static_cast<uint32_t>(section.sites->size());
      }
      without_predicates_ += section.sites->size();
      continue;
    }
    isolation::SiteGroup group;
    group.sites = static_cast<uint32_t>(section.sites->size());
    group.counters = scheme->counters;
    group.complements = has_complements(*scheme);
    group.observed_by_report = scheme->counters == 1;
    group_of_section_.push_back(static_cast<uint32_t>(groups_.size()));
    groups_.push_back({&section, scheme});
    reading_.add(group);
  }
  range_site_of_.resize(listed_ranges_);
  std::iota(range_site_of_.begin(), range_site_of_.end(), 0);
  range_sites_ = range_site_of_;
  match_builds();
}

std::vector<isolation::StatedSite> SamplerPredicates::state_sites(
    std::string_view program, const std::vector<uint32_t>& sections) const {
  std::vector<isolation::StatedSite> sites;
  const std::map<std::string_view, std::string_view> sources = unit_sources(*sites_, sections);
  for (const uint32_t number : sections) {
    const SamplerSites::Section& section = sites_->sections()[number];
    const auto source = sources.find(section.sites->unit);
    const uint32_t group = group_of_section_[number];
    const uint32_t range = first_range_site(&section);
    if (group == kNoGroup && range == kNoGroup) continue;
    const uint32_t first =
        group != kNoGroup ? reading_.first_site(group) : reading_.site_count() + range;
    for (uint32_t site = first; site < first + section.sites->size(); ++site) {
      const PredicateWords words = words_of_listed(site, 0);
      // Each file that includes a header has the header's code.
      const std::string_view included_by =
          source != sources.end() && is_header(words.file) ? source->second : std::string_view();
      sites.push_back({site, fmt::format("{}\n{}\n{}\n{}\n{}\n{}", program, included_by, words.file,
                                         words.function, words.scheme, words.text)});
    }
  }
  return sites;
}

// Builds are the files of one name; a single one needs no work. Several studies may have the same
// build.
void SamplerPredicates::match_builds() {
  using Sections = std::vector<uint32_t>;
  std::map<std::string_view, std::vector<const Sections*>> files;
  for (const SamplerSites::Program& program : sites_->programs()) {
    std::vector<const Sections*>& known = files[program.name];
    const auto is_same = [&](const Sections* other) { return *other == program.sections; };
    if (!program.sections.empty() && std::ranges::none_of(known, is_same))
      known.push_back(&program.sections);
  }
  std::vector<std::vector<isolation::StatedSite>> builds;
  for (const auto& [name, all] : files) {
    if (all.size() < 2) continue;
    builds_.builds = std::max<uint64_t>(builds_.builds, all.size());
    for (const Sections* sections : all) builds.push_back(state_sites(name, *sections));
  }
  if (builds.empty()) return;
  const isolation::SiteMatches matches = isolation::match_sites(builds, listed_count());
  for (uint32_t site = 0; site < listed_count(); ++site) {
    if (matches.same_as[site] != site) others_[matches.same_as[site]].push_back(site);
  }
  if (!others_.empty()) merge(matches);
  count_builds(builds, matches);
}

void SamplerPredicates::merge(const isolation::SiteMatches& matches) {
  is_merged_ = true;
  // Of schemes that a report observes as a whole, sites share a group if the same sections have
  // them. Other groups only say what kind of site it is.
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  groups_of_.resize(groups_.size());
  for (uint32_t site = 0; site < reading_.site_count(); ++site) {
    if (matches.same_as[site] != site) {
      site_of_.push_back(site_of_[matches.same_as[site]]);
      continue;
    }
    std::vector<uint32_t> groups = {reading_.group_of(site)};
    isolation::SiteGroup kind = reading_.groups()[groups.front()];
    if (const auto same = others_.find(site); same != others_.end() && kind.observed_by_report) {
      for (const uint32_t other : same->second) groups.push_back(reading_.group_of(other));
      std::ranges::sort(groups);
      groups.erase(std::ranges::unique(groups).begin(), groups.end());
    }
    const auto next = static_cast<uint32_t>(table_.groups().size());
    const auto [known, is_new] = numbers.try_emplace(groups, next);
    if (is_new) {
      kind.sites = 0;
      table_.add(kind);
      for (const uint32_t group : groups) groups_of_[group].push_back(next);
    }
    site_of_.push_back(table_.add_site(known->second));
    listed_of_.push_back(site);
  }
  range_sites_.clear();
  for (uint32_t range = 0; range < listed_ranges_; ++range) {
    const uint32_t same = matches.same_as[reading_.site_count() + range] - reading_.site_count();
    range_site_of_[range] =
        same == range ? static_cast<uint32_t>(range_sites_.size()) : range_site_of_[same];
    if (same == range) range_sites_.push_back(range);
  }
}

void SamplerPredicates::count_builds(std::span<const std::vector<isolation::StatedSite>> builds,
                                     const isolation::SiteMatches& matches) {
  std::vector<uint32_t> in_builds(listed_count());
  std::vector<bool> is_ambiguous(listed_count());
  for (const std::vector<isolation::StatedSite>& build : builds) {
    for (const isolation::StatedSite& site : build) {
      ++in_builds[matches.same_as[site.site]];
      if (matches.ambiguous[site.site]) is_ambiguous[matches.same_as[site.site]] = true;
    }
  }
  for (uint32_t site = 0; site < listed_count(); ++site) {
    if (in_builds[site] > 1) {
      ++builds_.sites_matched;
      if (!other_lines(site).empty()) ++builds_.sites_moved;
    } else if (in_builds[site] == 1) {
      ++builds_.sites_unmatched;
      if (is_ambiguous[site]) ++builds_.sites_ambiguous;
    }
  }
}

void SamplerPredicates::renumber(std::vector<isolation::ObservedSite>& observed,
                                 std::vector<uint32_t>& groups) const {
  if (!is_merged_) return;
  for (isolation::ObservedSite& seen : observed) seen.site = site_of_[seen.site];
  std::ranges::sort(observed, {}, &isolation::ObservedSite::site);
  // A process may have loaded two builds of a library.
  size_t kept = 0;
  for (size_t i = 0; i < observed.size(); ++i) {
    if (kept != 0 && observed[kept - 1].site == observed[i].site) {
      observed[kept - 1].counted |= observed[i].counted;
    } else {
      observed[kept++] = observed[i];
    }
  }
  observed.resize(kept);
  std::vector<uint32_t> renumbered;
  for (const uint32_t group : groups)
    renumbered.insert(renumbered.end(), groups_of_[group].begin(), groups_of_[group].end());
  std::ranges::sort(renumbered);
  renumbered.erase(std::ranges::unique(renumbered).begin(), renumbered.end());
  groups = std::move(renumbered);
}

uint32_t SamplerPredicates::group_of(const SamplerSites::Section* section) const {
  if (section == nullptr) return kNoGroup;
  return group_of_section_[static_cast<size_t>(section - sites_->sections().data())];
}

uint32_t SamplerPredicates::first_range_site(const SamplerSites::Section* section) const {
  const auto found = std::ranges::find(bounds_, section, &decltype(bounds_)::value_type::second);
  return section == nullptr || found == bounds_.end() ? kNoGroup : found->first;
}

sampler::SiteRow SamplerPredicates::row_of(uint32_t listed) const {
  if (listed < reading_.site_count()) {
    const uint32_t group = reading_.group_of(listed);
    return groups_[group].section->sites->row(listed - reading_.first_site(group));
  }
  const uint32_t range = listed - reading_.site_count();
  const auto section = std::prev(bounds_.upper_bound(range));
  return section->second->sites->row(range - section->first);
}

std::vector<uint64_t> SamplerPredicates::other_lines(uint32_t listed) const {
  const auto line_of = [&](uint32_t site) {
    return sampler::parse_unsigned(row_of(site).line_number()).value_or(0);
  };
  std::vector<uint64_t> lines;
  const auto others = others_.find(listed);
  if (others == others_.end()) return lines;
  const uint64_t own = line_of(listed);
  for (const uint32_t other : others->second) {
    const uint64_t line = line_of(other);
    if (line != own && std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

PredicateWords SamplerPredicates::words_of_listed(uint32_t listed, uint32_t index) const {
  const sampler::SiteRow row = row_of(listed);
  PredicateWords words;
  words.file = row.file();
  words.line = sampler::parse_unsigned(row.line_number()).value_or(0);
  words.function = row.function();
  if (listed >= reading_.site_count()) {
    words.scheme = "bounds";
    words.text = row.column(0);
    return words;
  }
  const uint32_t group = reading_.group_of(listed);
  const sampler::SchemeLayout& scheme = *groups_[group].scheme;
  words.scheme = scheme.name;
  words.compares = compares(scheme, row, index / 2);
  words.text = reading_.groups()[group].complements
                   ? words_of(scheme, row, index / 2, index % 2 == 1)
                   : words_of(scheme, row, index, false);
  return words;
}

PredicateWords SamplerPredicates::describe(uint32_t predicate) const {
  const uint32_t site = table().site_of(predicate);
  const uint32_t listed = is_merged_ ? listed_of_[site] : site;
  PredicateWords words = words_of_listed(listed, predicate - table().first_predicate(site));
  words.other_lines = other_lines(listed);
  return words;
}

PredicateWords SamplerPredicates::describe_range(uint32_t site) const {
  const uint32_t listed = reading_.site_count() + range_sites_[site];
  PredicateWords words = words_of_listed(listed, 0);
  words.other_lines = other_lines(listed);
  return words;
}

}  // namespace telltale
