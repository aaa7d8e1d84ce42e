#include "import/sampler/sampler_ranges.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

using isolation::PredicateTally;

constexpr std::string_view kSites =
    "<sites unit=\"0123456789abcdef0123456789abcdef\" scheme=\"branches\">\na.c\t1\tf\t1\tp\n"
    "</sites>\n<sites unit=\"0123456789abcdef0123456789abcdef\" scheme=\"bounds\">\n"
    "a.c\t2\tf\t2\tx\tlocal\tdirect\na.c\t3\tg\t3\tq\tlocal\tdirect\n</sites>\n";

std::string report_of(std::string_view rows) {
  return fmt::format(
      "<report id=\"samples\">\n<samples unit=\"0123456789abcdef0123456789abcdef\" "
      "scheme=\"branches\">\n0\t1\n</samples>\n<samples "
      "unit=\"0123456789abcdef0123456789abcdef\" scheme=\"bounds\">\n{}</samples>\n</report>\n",
      rows);
}

// Runs in which each predicate was true, as "failing/successful of observed". The first `failing`
// reports are of runs that failed.
std::map<std::string, std::string> tell(const std::vector<std::string>& texts, size_t failing,
                                        size_t workers) {
  SamplerSites sites;
  ProblemLog problems;
  EXPECT_TRUE(sites.add(InputFile::from_memory("sites", as_bytes(kSites)), problems).value());
  auto base = std::make_unique<SamplerPredicates>(sites);
  std::vector<RunReport> reports;
  for (size_t i = 0; i < texts.size(); ++i) reports.push_back({std::to_string(i), i < failing});
  SamplerEvidence evidence = read_sampler_evidence(
      reports, sites, *base,
      [&](const RunReport& report) -> Result<InputFile> {
        return InputFile::from_memory(report.path, as_bytes(texts[std::stoul(report.path)]));
      },
      workers);
  const auto predicates = add_range_predicates(std::move(base), evidence, workers);
  std::vector<const isolation::LabelledRun*> runs;
  for (const isolation::LabelledRun& run : evidence.runs) runs.push_back(&run);
  PredicateTally tally(predicates->table());
  tally.add(runs, workers);
  EXPECT_TRUE(evidence.first_true.empty());  // no report has times
  std::map<std::string, std::string> told;
  for (uint32_t i = 0; i < predicates->table().predicate_count(); ++i) {
    const auto counts = tally.of(i);
    told[predicates->describe(i).text] = fmt::format(
        "{}/{} of {}", counts.true_in.failing, counts.true_in.successful, counts.observed_in.all());
  }
  return told;
}

using Told = std::map<std::string, std::string>;

TEST(SamplerRanges, NumbersAreFoundThatSeparateTheRuns) {
  const std::vector<std::string> texts = {report_of("-7\t90\n1\t0\n"), report_of("-9\t80\n1\t0\n"),
                                          report_of("-2\t20\n1\t0\n"), report_of("3\t10\n1\t0\n"),
                                          report_of("2147483647\t-2147483648\n1\t0\n")};
  const Told wanted = {{"p is FALSE", "0/0 of 5"},         {"p is TRUE", "2/3 of 5"},
                       {"x was always > -7", "0/2 of 4"},  {"x was once <= -7", "2/0 of 4"},
                       {"x was always <= 20", "0/2 of 4"}, {"x was once > 20", "2/0 of 4"}};
  for (const size_t workers : {1, 3}) EXPECT_EQ(tell(texts, 2, workers), wanted) << workers;
}

TEST(SamplerRanges, PointersAndOneSidedRunsSayNothing) {
  const Told plain = {{"p is FALSE", "0/0 of 2"}, {"p is TRUE", "1/1 of 2"}};
  EXPECT_EQ(tell({report_of("1\t0\n0x10\t0x20\n"), report_of("1\t0\n0x50\t0x60\n")}, 1, 1), plain);
  EXPECT_EQ(tell({report_of("4\t9\n"), report_of("4\t9\n")}, 1, 1), plain);
  EXPECT_EQ(tell({report_of("4\t9\n"), report_of("5\t8\n")}, 0, 1),
            (Told{{"p is FALSE", "0/0 of 2"}, {"p is TRUE", "0/2 of 2"}}));
}

// The smallest value differs from run to run, the largest does not.
TEST(SamplerRanges, AnEndThatSeparatesNothingHasNoPredicates) {
  EXPECT_EQ(tell({report_of("4\t9\n"), report_of("5\t9\n")}, 1, 1),
            (Told{{"p is FALSE", "0/0 of 2"},
                  {"p is TRUE", "1/1 of 2"},
                  {"x was always > 4", "0/1 of 2"},
                  {"x was once <= 4", "1/0 of 2"}}));
  EXPECT_EQ(tell({report_of("4\t8\n"), report_of("4\t9\n")}, 1, 1),
            (Told{{"p is FALSE", "0/0 of 2"},
                  {"p is TRUE", "1/1 of 2"},
                  {"x was always <= 8", "1/0 of 2"},
                  {"x was once > 8", "0/1 of 2"}}));
}

TEST(SamplerRanges, OrderOfNumbers) {
  const auto order = [](std::string_view text) { return order_of(*sampler::parse_bound(text)); };
  const char* const ascending[] = {"-9223372036854775808", "-1", "0", "1", "9223372036854775806"};
  for (size_t i = 1; i < std::size(ascending); ++i)
    EXPECT_LT(order(ascending[i - 1]), order(ascending[i])) << ascending[i];
  EXPECT_EQ(order("9223372036854775807"), order("18446744073709551615"));
  EXPECT_EQ(order("0x10"), std::nullopt);
}

}  // namespace
}  // namespace telltale
