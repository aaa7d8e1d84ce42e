#pragma once

// Runs of a made-up program with 50,000 sites, for benchmarks of isolation. A run observes a fifth
// of the sites; one run in 75 fails by one of two bugs.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analysis/isolation/evidence.h"

namespace telltale::bench {

using isolation::ObservedSite;
using isolation::SiteTable;

inline constexpr uint32_t kUnits = 50;
struct Part {
  const char* scheme;
  uint32_t sites;
  unsigned counters;
};
inline constexpr Part kParts[] = {
    {"scalar-pairs", 750, 3}, {"branches", 150, 2}, {"returns", 100, 3}};

// Sites of the two causes, in a program of kUnits; both are branches, and true in failing runs.
inline constexpr uint32_t kCauses[] = {20800, 40801};
// The same places in a program with another number of sites.
inline uint32_t cause_of(size_t which, uint32_t sites) {
  constexpr uint32_t kUnitSites = 1000;
  const uint32_t unit = kCauses[which] / kUnitSites * (sites / kUnitSites) / kUnits;
  return unit * kUnitSites + kCauses[which] % kUnitSites;
}

inline std::string unit_name(uint32_t unit) {
  char name[33];
  std::snprintf(name, sizeof(name), "%032x", unit);
  return name;
}

inline std::string make_sites(uint32_t units = kUnits) {
  std::string text;
  for (uint32_t unit = 0; unit < units; ++unit) {
    for (const Part& part : kParts) {
      text += "<sites unit=\"" + unit_name(unit) + "\" scheme=\"" + part.scheme + "\">\n";
      for (uint32_t site = 0; site < part.sites; ++site) {
        text += "src/module.c\t" + std::to_string(site / 8 + 1) + "\tfunction\t" +
                std::to_string(site) + "\tleft\tlocal\tdirect\tright\tlocal-init\n";
      }
      text += "</sites>\n";
    }
  }
  return text;
}

// What a run observes. Failing runs have the cause that their number chooses.
class RunMaker {
 public:
  explicit RunMaker(const SiteTable& sites) : sites_(sites) {}

  bool make(size_t run, std::vector<ObservedSite>& observed) {
    observed.clear();
    const bool failed = run % 75 == 0;
    const uint32_t causes[] = {cause_of(0, sites_.site_count()), cause_of(1, sites_.site_count())};
    const uint32_t cause = causes[run % 225 == 0 ? 1 : 0];
    for (uint32_t site = 0; site < sites_.site_count(); ++site) {
      const uint64_t draw = random_();
      const unsigned counters = sites_.groups()[sites_.group_of(site)].counters;
      if (site == causes[0] || site == causes[1]) {
        observed.push_back({site, failed && site == cause ? 2U : 1U});
      } else if (draw % 5 == 0) {
        const uint32_t counted = 1U << (draw >> 8) % counters | 1U << (draw >> 16) % counters;
        observed.push_back({site, counted});
      }
    }
    return failed;
  }

 private:
  const SiteTable& sites_;
  std::mt19937_64 random_{5};
};

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the answer is wrong: %s\n", what);
  std::exit(1);
}

}  // namespace telltale::bench
