#include "analysis/isolation/match_sites.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

namespace telltale::isolation {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Sets of sites; the lowest number represents a set.
class SiteSets {
 public:
  explicit SiteSets(uint32_t sites) : parent_(sites) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  uint32_t find(uint32_t site) {
    while (parent_[site] != site) site = parent_[site] = parent_[parent_[site]];
    return site;
  }
  void unite(uint32_t one, uint32_t other) {
    const auto [low, high] = std::minmax({find(one), find(other)});
    parent_[high] = low;
  }

 private:
  std::vector<uint32_t> parent_;
};

// A statement's occurrences in one build.
struct Occurrences {
  uint32_t all = 0;
  uint32_t seen = 0;
};

// Unites the sites that are the same by statement, number of such statements and order.
void unite_equal_sites(std::span<const std::vector<StatedSite>> builds, SiteSets& sets) {
  using Place = std::tuple<std::string_view, uint32_t, uint32_t>;  // statement, of how many, which
  std::map<Place, uint32_t> first;
  for (const std::vector<StatedSite>& build : builds) {
    std::map<std::string_view, Occurrences> occurrences;
    for (const StatedSite& site : build) ++occurrences[site.statement].all;
    for (const StatedSite& site : build) {
      Occurrences& of = occurrences[site.statement];
      const auto [at, is_new] =
          first.try_emplace(Place(site.statement, of.all, of.seen++), site.site);
      if (!is_new) sets.unite(at->second, site.site);
    }
  }
}

// Builds that share a unit may connect two sites of one build. Sites of one build are different
// code, so that such a set is none.
std::vector<bool> find_impossible(std::span<const std::vector<StatedSite>> builds, SiteSets& sets,
                                  uint32_t site_count) {
  std::vector<bool> impossible(site_count);
  for (const std::vector<StatedSite>& build : builds) {
    std::vector<uint32_t> member(site_count, kNone);
    for (const StatedSite& site : build) {
      uint32_t& known = member[sets.find(site.site)];
      if (known != kNone && known != site.site) impossible[sets.find(site.site)] = true;
      known = site.site;
    }
  }
  return impossible;
}

// Sites, by the first of the same code, that only one build has, although others have the
// statement.
std::vector<bool> find_ambiguous(std::span<const std::vector<StatedSite>> builds,
                                 const std::vector<uint32_t>& same_as) {
  std::map<std::string_view, uint32_t> builds_with;
  std::vector<uint32_t> in_builds(same_as.size());
  for (const std::vector<StatedSite>& build : builds) {
    std::vector<std::string_view> statements;
    for (const StatedSite& site : build) {
      ++in_builds[same_as[site.site]];
      statements.push_back(site.statement);
    }
    std::ranges::sort(statements);
    const auto end = std::ranges::unique(statements).begin();
    for (auto at = statements.begin(); at != end; ++at) ++builds_with[*at];
  }
  std::vector<bool> ambiguous(same_as.size());
  for (const std::vector<StatedSite>& build : builds) {
    for (const StatedSite& site : build) {
      if (in_builds[same_as[site.site]] == 1 && builds_with[site.statement] > 1)
        ambiguous[site.site] = true;
    }
  }
  return ambiguous;
}

}  // namespace

SiteMatches match_sites(std::span<const std::vector<StatedSite>> builds, uint32_t site_count) {
  SiteSets sets(site_count);
  unite_equal_sites(builds, sets);
  const std::vector<bool> impossible = find_impossible(builds, sets, site_count);
  SiteMatches matches;
  for (uint32_t site = 0; site < site_count; ++site) {
    const uint32_t first = sets.find(site);
    matches.same_as.push_back(impossible[first] ? site : first);
  }
  matches.ambiguous = find_ambiguous(builds, matches.same_as);
  return matches;
}

}  // namespace telltale::isolation
