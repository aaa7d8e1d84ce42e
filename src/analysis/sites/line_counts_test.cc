#include "analysis/sites/line_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

namespace telltale {
namespace {

const SiteScheme kStatements = {"coverage", {"statement"}, {"executed"}, false};

void add(LineCounts& lines, std::string_view unit, uint64_t line, std::string_view function,
         uint64_t count) {
  const std::array<uint64_t, 1> counts = {count};
  CountedSite site;
  site.scheme = &kStatements;
  site.unit = unit;
  site.file = "a.cc";
  site.line = line;
  site.function = function;
  site.counts = counts;
  lines.on(site);
}

TEST(LinesOfFunctions, InstancesOfATemplateAreAdded) {
  LineCounts lines;
  for (const std::string_view unit : {"1", "2"}) {
    add(lines, unit, 5, "big<int>", 10);
    add(lines, unit, 5, "big<int>", 4);
    add(lines, unit, 5, "big<double>", 7);
    // A lambda and the function that it is in.
    add(lines, unit, 9, "main", 1);
    add(lines, unit, 9, "main::(lambda)::operator()", 8);
  }
  EXPECT_EQ(lines.files().at("a.cc").lines, (std::map<uint64_t, uint64_t>{{5, 34}, {9, 16}}));
}

TEST(LinesOfFunctions, SumsStopAtTheLargestNumber) {
  LineCounts lines;
  add(lines, "1", 5, "big<int>", UINT64_MAX);
  add(lines, "1", 5, "big<long>", 2);
  EXPECT_EQ(lines.files().at("a.cc").lines.at(5), UINT64_MAX);
}

}  // namespace
}  // namespace telltale
