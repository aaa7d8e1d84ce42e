#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace telltale::isolation {

// Which sites of several builds of a program are the same code, moved to other lines
// (docs/analysis/isolation.md, "Several builds").

// A site of a build. A site that builds share has one number in all of them.
struct StatedSite {
  uint32_t site = 0;
  std::string statement;  // all that says what the code is, but no line
};

struct SiteMatches {
  // By site: the site with the lowest number of those that are the same code; itself, if none is.
  std::vector<uint32_t> same_as;
  // By site: in one build only, but builds state it a different number of times, so that nobody can
  // say which is which.
  std::vector<bool> ambiguous;
};

// `builds`: the sites of each in the order of its program, each once. Equal statements of a build
// are distinguished by their order, and match those of another build if that has as many of them.
// The answer is the same for any order of the builds. REQUIRES: sites below `site_count`.
SiteMatches match_sites(std::span<const std::vector<StatedSite>> builds, uint32_t site_count);

}  // namespace telltale::isolation
