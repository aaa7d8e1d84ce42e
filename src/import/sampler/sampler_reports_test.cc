#include "import/sampler/sampler_reports.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/sites/line_counts.h"
#include "analysis/sites/site_sums.h"
#include "bytes/as_bytes.h"
#include "bytes/block_writer.h"
#include "import/sampler/sampler_report_writer.h"
#include "support/golden.h"

namespace telltale {
namespace {

// Owns the texts of what is opened.
SamplerReports open(const std::vector<std::string_view>& texts) {
  std::vector<InputFile> inputs;
  for (const std::string_view text : texts)
    inputs.push_back(InputFile::from_memory("f", as_bytes(text)));
  Result<SamplerReports> reports = SamplerReports::open(std::move(inputs), {});
  EXPECT_TRUE(reports) << to_string(reports.error());
  return *std::move(reports);
}

std::string golden(const std::string& name) {
  return testing::read_source_file("tests/golden/sampler/" + name);
}

std::string described(const SamplerReports& reports) {
  std::string out;
  reports.for_each_site(false, [&](const CountedSite& site) {
    out += site.scheme->name + " " + std::string(site.function) + ":" + std::to_string(site.line);
    for (const uint64_t count : site.counts) out += " " + std::to_string(count);
    if (site.scheme->bounds)
      out += " " + std::string(site.minimum) + ".." + std::string(site.maximum);
    out += site.observed ? " seen\n" : "\n";
  });
  return out;
}

TEST(SamplerReports, RepeatedSectionsAreMergedAndJoined) {
  const std::string report = golden("plugin_three_times.report");
  const std::string sites = golden("plugin.sites");
  const SamplerReports reports = open({report, sites});
  EXPECT_EQ(described(reports),
            "branches plug:3 1 6 seen\nbranches plug:4 1 1 seen\nbounds plug:6 -3..9 seen\n"
            "function-entries plug:2 4 seen\n");
  EXPECT_FALSE(reports.problems().damaged());
  EXPECT_EQ(reports.sections()[0].first_times, (std::vector<uint64_t>{3, 10}));
  EXPECT_EQ(reports.sections()[0].last_times, (std::vector<uint64_t>{20, 12}));
  ASSERT_EQ(reports.subreports().size(), 2U);
  EXPECT_EQ(reports.subreports()[0].id, "main-backtrace");
  EXPECT_EQ(reports.subreports()[1].text, "key\tvalue\n<samples unit=\"not a section here\">\n\n");
}

TEST(SamplerReports, SeveralRunsAreOneAnswer) {
  const std::string report = golden("plugin_three_times.report");
  const SamplerReports reports = open({report, report});
  EXPECT_EQ(described(reports),
            "branches :0 2 12 seen\nbranches :0 2 2 seen\nbounds :0 -3..9 seen\n"
            "function-entries :0 8 seen\n");
  EXPECT_EQ(reports.unresolved_sections(), 3U);
}

std::string as_one_report(const SamplerReports& reports) {
  std::string text;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    text += block;
    return {};
  };
  BlockWriter out(sink);
  write_as_one_report(reports, out);
  EXPECT_TRUE(out.finish());
  return text;
}

// Of a run with two units.
std::string adaptive_report(std::string_view attributes, std::string_view sample,
                            std::string_view first) {
  const auto section = [](char unit, std::string_view row) {
    return "<samples unit=\"" + std::string(32, unit) + "\" scheme=\"branches\">\n" +
           std::string(row) + "\n</samples>\n";
  };
  const std::string first_begin = "<report id=\"first-samples\"" + std::string(attributes) + ">\n";
  return "<report id=\"samples\">\n" + section('a', sample) + "</report>\n" + first_begin +
         section('a', first) + "</report>\n<report id=\"samples\">\n" + section('b', sample) +
         "</report>\n" + first_begin + "</report>\n";
}

TEST(SamplerReports, FirstExecutionsAreMergedApartFromTheSample) {
  const std::string unit(32, 'a');
  const auto merged = [&](std::string_view attributes, std::string_view sample,
                          std::string_view first) {
    const std::string begin = "<samples unit=\"" + unit + "\" scheme=\"branches\">\n";
    const std::string rows = std::string(sample) + "\n</samples>\n";
    return "<report id=\"samples\">\n" + begin + rows + "<samples unit=\"" + std::string(32, 'b') +
           "\" scheme=\"branches\">\n" + rows + "</report>\n" + "<report id=\"first-samples\"" +
           std::string(attributes) + ">\n" + begin + std::string(first) +
           "\n</samples>\n</report>\n";
  };
  constexpr std::string_view kRates = " sparsity=\"100\" first=\"8\"";
  const std::string one = adaptive_report(kRates, "1\t0", "0\t8");
  const std::string other = adaptive_report(kRates, "0\t5", "3\t8");
  const SamplerReports alone = open({one});
  EXPECT_EQ(as_one_report(alone), merged(kRates, "1\t0", "0\t8"));
  EXPECT_EQ(described(alone), "branches :0 1 0 seen\nbranches :0 1 0 seen\n");
  const std::string both = as_one_report(open({one, other}));
  EXPECT_EQ(both, merged("", "1\t5", "3\t16"));
  EXPECT_EQ(as_one_report(open({both})), both);
  // The sample says nothing, first executions do.
  EXPECT_NE(open({adaptive_report(kRates, "0\t0", "0\t8")}).nothing_observed().find("first exec"),
            std::string_view::npos);
  EXPECT_EQ(open({adaptive_report(kRates, "0\t0", "0\t0")}).nothing_observed().find("first exec"),
            std::string_view::npos);
}

TEST(SamplerReports, DamagedFirstExecutionsAreReported) {
  const SamplerReports reports =
      open({adaptive_report("", "1\t0", "8"), adaptive_report("", "1\t0", "0\t8\njunk")});
  EXPECT_EQ(reports.problems().damage_count(), 2U);
  EXPECT_EQ(reports.bad_rows(), 2U);
}

TEST(SamplerReports, SumsThatStopAreNoDamageButNoOddityEither) {
  const std::string report =
      adaptive_report("", "18446744073709551615\t2", "18446744073709551615\t0");
  const SamplerReports reports = open({report, adaptive_report("", "5\t1", "1\t1")});
  ASSERT_EQ(reports.problems().count(), 3U);  // two units, and first executions of one
  for (const Problem& problem : reports.problems().kept()) {
    EXPECT_EQ(problem.kind, Problem::Kind::estimate);
    EXPECT_EQ(problem.message,
              "1 sum of scheme branches would be 2^64 or more, and stayed at 2^64 - 1");
  }
  EXPECT_FALSE(reports.problems().damaged());
}

TEST(SamplerReports, SectionsThatDoNotFitAreToldAndTheRestIsJoined) {
  const std::string unit(32, '0');
  const std::string sites =
      "<sites unit=\"" + unit +
      "\" scheme=\"data\">\na.c\t1\tf\t1\tx\tread\na.c\t2\tf\t2\ty\tread\n</sites>\n";
  const auto report = [&](const std::string& rows) {
    return "<samples unit=\"" + unit + "\" scheme=\"data\">\n" + rows + "</samples>\n";
  };
  const std::string many = report("1\n2\n3\n");
  EXPECT_EQ(described(open({many, sites})), "data f:1 1 seen\ndata f:2 2 seen\n");
  EXPECT_EQ(open({many, sites}).uneven_sections(), 1U);
  const std::string few = report("7\n");
  EXPECT_EQ(described(open({few, sites})), "data f:1 7 seen\n");
  const std::string damaged = report("7\nx\n");
  EXPECT_EQ(described(open({damaged, sites})), "data f:1 7 seen\n");
  EXPECT_EQ(open({damaged, sites}).problems().kept()[0].offset, damaged.find('x'));
  // Another load of the same unit reports it.
  const std::string whole = report("1\n1\n");
  EXPECT_EQ(described(open({damaged, whole, sites})), "data f:1 8 seen\ndata f:2 1 seen\n");
}

// Neither side of the join takes them: a section without a name would match any other.
TEST(SamplerReports, SectionsWithoutAUnitOrASchemeAreSkipped) {
  const std::string unit(32, '0');
  for (const std::string& tag :
       {std::string(" unit=\"\" scheme=\"data\""), " unit=\"" + unit + "\""}) {
    const std::string sites = "<sites" + tag + ">\na.c\t1\tf\t1\tx\tread\n</sites>\n";
    const std::string report = "<samples" + tag + ">\n7\n</samples>\n";
    const SamplerReports reports = open({report, sites});
    EXPECT_EQ(described(reports), "") << tag;
    ASSERT_EQ(reports.problems().kept().size(), 2U) << tag;
    for (const Problem& problem : reports.problems().kept())
      EXPECT_EQ(problem.message, "the tag lacks a unit or a scheme");
  }
}

TEST(SamplerReports, EveryPrefixIsAnswered) {
  const std::string report = golden("all_schemes.report");
  const std::string sites = golden("all_schemes.sites");
  size_t before = 0;
  for (size_t size = 20; size <= report.size(); ++size) {
    const std::string cut = report.substr(0, size);
    const SamplerReports reports = open({cut, sites});
    size_t rows = 0;
    reports.for_each_site(false, [&](const CountedSite&) { ++rows; });
    ASSERT_GE(rows, before) << size;
    before = rows;
    for (const Problem& problem : reports.problems().kept()) ASSERT_LE(problem.offset, size);
    static_cast<void>(reports.info());
  }
  EXPECT_EQ(before, 25U);
}

TEST(LineCounts, TakeTheLargestOfALineAndAddUnits) {
  const std::string report = golden("all_schemes.report");
  const std::string sites = golden("all_schemes.sites");
  LineCounts lines;
  open({report, sites}).for_each_site(true, [&](const CountedSite& site) { lines.on(site); });
  const auto files = lines.files();
  ASSERT_EQ(files.size(), 1U);
  const LineCounts::File& file = files.begin()->second;
  EXPECT_EQ(file.lines,
            (std::map<uint64_t, uint64_t>{{8, 1}, {10, 5}, {11, 1}, {20, 4}, {21, 8}, {22, 8}}));
  ASSERT_EQ(file.branches.size(), 3U);
  EXPECT_EQ(file.branches[1].block, 1U);
  EXPECT_EQ(file.branches[2].taken_true, 8U);
  EXPECT_EQ(lines.used_sites(), 7U);
}

TEST(SiteSums, CountByScheme) {
  const std::string report = golden("plugin_three_times.report");
  const std::string sites = golden("plugin.sites");
  SiteSums sums;
  open({report, sites}).for_each_site(false, [&](const CountedSite& site) { sums.on(site); });
  EXPECT_EQ(sums.all().sites, 4U);
  EXPECT_EQ(sums.all().observations, 13U);
  ASSERT_EQ(sums.functions().size(), 1U);
  EXPECT_EQ(sums.functions()[0].observed, 4U);
}

// 100 counts of one in ten: 1,000, give or take 1.96 * 10 * sqrt(100 * 0.9) = 185.9.
TEST(Estimate, IsUnbiasedAndHasItsMargin) {
  EXPECT_DOUBLE_EQ(estimate(100, 10).value, 1000);
  EXPECT_NEAR(estimate(100, 10).margin, 185.9, 0.1);
  EXPECT_DOUBLE_EQ(estimate(7, 1).value, 7);
  EXPECT_DOUBLE_EQ(estimate(7, 1).margin, 0);
}

}  // namespace
}  // namespace telltale
