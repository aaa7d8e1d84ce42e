#include "import/sampler/unit_sources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bytes/as_bytes.h"
#include "import/sampler/sampler_predicates.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A section of branches; `rows` are "file:line:condition" with blanks between them.
std::string section(char unit, std::string_view rows) {
  std::string text =
      fmt::format("<sites unit=\"{}\" scheme=\"branches\">\n", std::string(32, unit));
  while (!rows.empty()) {
    const std::string_view row = rows.substr(0, rows.find(' '));
    const size_t first = row.find(':');
    const size_t second = row.find(':', first + 1);
    text += fmt::format("{}\t{}\tf\t1\t{}\n", row.substr(0, first),
                        row.substr(first + 1, second - first - 1), row.substr(second + 1));
    rows.remove_prefix(std::min(row.size() + 1, rows.size()));
  }
  return text + "</sites>\n";
}

void add(SamplerSites& sites, const std::string& text) {
  ProblemLog problems;
  ASSERT_TRUE(sites.add(InputFile::from_memory("program", as_bytes(text)), problems).value());
}

TEST(UnitSources, AHeaderIsKnownByItsSuffix) {
  for (const char* name : {"a.h", "x/a.hpp", "a.H", "lexer.inc", "ops.def"})
    EXPECT_TRUE(is_header(name)) << name;
  for (const char* name : {"a.c", "a.cc", "h", "a.hc", "a.h.c", ""})
    EXPECT_FALSE(is_header(name)) << name;
}

TEST(UnitSources, TheFileThatNoOtherUnitHas) {
  const std::string text = section('a', "z.c:1:p a.c:2:p u.h:3:p") +
                           section('b', "u.h:3:p b.c:1:p") + section('c', "u.h:3:p") +
                           section('d', "twice.c:1:p") + section('e', "twice.c:1:p");
  SamplerSites sites;
  add(sites, text);
  EXPECT_THAT(unit_sources(sites, sites.programs().front().sections),
              ElementsAre(Pair(std::string(32, 'a'), "a.c"), Pair(std::string(32, 'b'), "b.c")));
}

// The older build has two files that include the header, the newer one three.
TEST(UnitSources, StatementsOfAHeaderAreMatchedByTheFileThatIncludesIt) {
  const std::string newer = section('a', "u.h:3:p a.c:9:q") + section('c', "u.h:3:p c.c:9:q") +
                            section('b', "u.h:3:p b.c:9:q");
  const std::string older = section('1', "u.h:5:p a.c:9:q") + section('2', "u.h:5:p b.c:7:q");
  SamplerSites sites;
  add(sites, newer);
  add(sites, older);
  const SamplerPredicates predicates(sites);
  const BuildMatches builds = predicates.builds();
  EXPECT_EQ(builds.builds, 2U);
  EXPECT_EQ(builds.sites_matched, 4U);
  EXPECT_EQ(builds.sites_moved, 3U);
  EXPECT_EQ(builds.sites_unmatched, 2U);
  EXPECT_EQ(builds.sites_ambiguous, 0U);
  std::vector<std::string> found;
  for (uint32_t site = 0; site < predicates.table().site_count(); ++site) {
    const PredicateWords words = predicates.describe(predicates.table().first_predicate(site));
    found.push_back(fmt::format(
        "{}:{}{}", words.file, words.line,
        words.other_lines.empty() ? "" : fmt::format(" before {}", words.other_lines.front())));
  }
  EXPECT_THAT(found, ElementsAre("u.h:3 before 5", "a.c:9", "u.h:3", "c.c:9", "u.h:3 before 5",
                                 "b.c:9 before 7"));
}

}  // namespace
}  // namespace telltale
