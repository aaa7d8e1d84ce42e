#include "import/sampler/sampler_predicates.h"

#include <fmt/format.h>

#include "formats/sampler/counter_rows.h"
#include "formats/sampler/tag.h"

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
    table_.add(group);
  }
}

uint32_t SamplerPredicates::group_of(const SamplerSites::Section* section) const {
  if (section == nullptr) return kNoGroup;
  return group_of_section_[static_cast<size_t>(section - sites_->sections().data())];
}

PredicateWords SamplerPredicates::describe(uint32_t predicate) const {
  const uint32_t site = table_.site_of(predicate);
  const uint32_t number = table_.group_of(site);
  const Group& group = groups_[number];
  const sampler::SiteRow row = group.section->sites->row(site - table_.first_site(number));
  const uint32_t index = predicate - table_.first_predicate(site);
  const bool complements = table_.groups()[number].complements;
  PredicateWords words;
  words.file = row.file();
  words.line = sampler::parse_unsigned(row.line_number()).value_or(0);
  words.function = row.function();
  words.scheme = group.scheme->name;
  words.text = complements ? words_of(*group.scheme, row, index / 2, index % 2 == 1)
                           : words_of(*group.scheme, row, index, false);
  return words;
}

}  // namespace telltale
