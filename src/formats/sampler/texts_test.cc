#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/as_bytes.h"
#include "bytes/block_writer.h"
#include "formats/sampler/backtrace.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/decimate.h"
#include "formats/sampler/recognise.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/report_writer.h"
#include "formats/sampler/site_info.h"
#include "formats/sampler/verifier.h"
#include "support/checkout.h"
#include "support/golden.h"

namespace telltale::sampler {
namespace {

ByteSink into(std::string& out) {
  return [&out](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
}

std::vector<std::string> golden_files(std::string_view extension) {
  std::vector<std::string> names;
  const auto folder = std::filesystem::path(testing::kSourceFolder) / "tests/golden/sampler";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension)
      names.push_back("tests/golden/sampler/" + entry.path().filename().string());
  }
  EXPECT_FALSE(names.empty());
  return names;
}

std::string samples(std::string_view scheme, std::string_view rows) {
  std::string text;
  append_samples_begin(text, std::string(32, 'a'), scheme);
  return text.append(rows) + "</samples>\n";
}

std::vector<ReportItem> items_of(std::string_view text) {
  std::vector<ReportItem> items;
  ReportReader reader(as_bytes(text));
  while (const auto item = reader.next()) items.push_back(*item);
  return items;
}

TEST(SamplerReport, GoldenFilesAreWrittenAgainByteForByte) {
  for (const std::string& name : golden_files(".report")) {
    const std::string text = testing::read_source_file(name);
    std::string again;
    ASSERT_TRUE(rewrite_report(as_bytes(text), into(again)));
    EXPECT_EQ(text, again) << name;
    const Verdict verdict = verify_report(as_bytes(text));
    EXPECT_TRUE(verdict.valid()) << name << ": " << (verdict.first ? verdict.first->message : "");
  }
}

// -fsampler-adaptive: counts that are not in the sample are only for readers that ask for them.
TEST(SamplerReport, FirstExecutionsAreApart) {
  const std::string text = "<report id=\"samples\">\n" + samples("branches", "1\t0\n") +
                           "</report>\n" +
                           "<report id=\"first-samples\" sparsity=\"100\" first=\"8\">\n" +
                           samples("branches", "0\t8\n") + "</report>\n";
  const Verdict verdict = verify_report(as_bytes(text));
  EXPECT_TRUE(verdict.valid()) << (verdict.first ? verdict.first->message : "");
  using Kind = ReportItem::Kind;
  using Sections = ReportReader::Sections;
  for (const Sections sections : {Sections::sample, Sections::all}) {
    ReportReader reader(as_bytes(text), sections);
    std::vector<std::string_view> rows;
    std::string again;
    while (const auto item = reader.next()) {
      EXPECT_FALSE(item->complaint);
      if (item->kind == Kind::samples) rows.push_back(item->body);
      again += item->bytes;
    }
    EXPECT_EQ(again, text);
    EXPECT_EQ(rows, (sections == Sections::all ? std::vector<std::string_view>{"1\t0\n", "0\t8\n"}
                                               : std::vector<std::string_view>{"1\t0\n"}));
  }
}

TEST(SamplerVerifier, ChecksFirstExecutionsLikeTheSample) {
  const auto counts = [](std::string_view attributes, const std::string& inside) {
    const std::string text = "<report id=\"samples\">\n" + samples("branches", "1\t0\n") +
                             "</report>\n<report id=\"first-samples\"" + std::string(attributes) +
                             ">\n" + inside + "</report>\n";
    return verify_report(as_bytes(text)).counts;
  };
  using Kind = Violation::Kind;
  const auto of = [](Kind kind) {
    std::array<uint64_t, Violation::kKinds> wanted{};
    wanted[static_cast<size_t>(kind)] = 1;
    return wanted;
  };
  constexpr std::string_view kRates = " sparsity=\"100\" first=\"8\"";
  const std::string good = samples("branches", "0\t8\n");
  const std::array<uint64_t, Violation::kKinds> none{};
  EXPECT_EQ(counts(kRates, good), none);
  EXPECT_EQ(counts("", good), none);
  EXPECT_EQ(counts(" sparsity=\"1.5e3\" first=\"255\"", good), none);
  EXPECT_EQ(counts(kRates, samples("branches", "8\n")), of(Kind::wrong_row));
  EXPECT_EQ(counts(kRates, samples("branches", "0\t8\n0\t8\n")), of(Kind::uneven_sections));
  EXPECT_EQ(counts(kRates, good + "junk\n"), of(Kind::misplaced));
  EXPECT_EQ(counts(kRates, samples("what", "8\n")), of(Kind::unknown_scheme));
  EXPECT_GE(
      counts(kRates,
             "<timestamps unit=\"" + std::string(32, 'a') +
                 "\" scheme=\"branches\" when=\"first\">\n1\n</timestamps>\n")[static_cast<size_t>(
          Kind::misplaced)],
      1U);
  for (const std::string_view bad :
       {" sparsity=\"x\" first=\"8\"", " sparsity=\"\" first=\"8\"",
        " sparsity=\"0.5\" first=\"8\"", " sparsity=\"100\" first=\"0\"",
        " sparsity=\"100\" first=\"256\"", " sparsity=\"100\" first=\"x\"",
        " first=\"8\" sparsity=\"100\"", " first=\"8\""})
    EXPECT_EQ(counts(bad, good), of(Kind::wrong_tag)) << bad;
}

// docs/formats/collect.md, "The spool".
TEST(SamplerVerifier, ReportsOfASpoolBeginWithTheRun) {
  const std::string run = "<report id=\"run\">\napplication a\nbuild b\n</report>\n";
  const std::string sample = "<report id=\"samples\">\n</report>\n";
  const std::string outcome = "<report id=\"outcome\">\nsignal SIGKILL\n</report>\n";
  const std::string other = "<report id=\"x\">\n</report>\n";
  for (const std::string& text : {run + sample + outcome, run + outcome, run, run + sample + other})
    EXPECT_TRUE(verify_report(as_bytes(text)).valid()) << text;
  for (const std::string& text : {run + other + sample, run + run + sample, outcome, other + run}) {
    const Verdict verdict = verify_report(as_bytes(text));
    EXPECT_EQ(verdict.counts[static_cast<size_t>(Violation::Kind::not_first)], 1U) << text;
  }
}

// What is written is handed on in blocks: memory does not grow with the report.
TEST(SamplerReport, IsWrittenInBlocks) {
  std::string text;
  while (text.size() < 5 * BlockWriter::kBlockBytes) text += samples("branches", "1\t2\n");
  std::string again;
  size_t largest = 0;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    largest = std::max(largest, block.size());
    again += block;
    return {};
  };
  ASSERT_TRUE(rewrite_report(as_bytes(text), sink));
  EXPECT_TRUE(again == text);
  EXPECT_GE(largest, BlockWriter::kBlockBytes);
  EXPECT_LT(largest, BlockWriter::kBlockBytes + 1024);
}

// Whole rows before a cut are delivered; the rest of the bytes is lost, and reported once.
TEST(SamplerReport, EveryPrefixGivesItsWholeRows) {
  for (const std::string& name : golden_files(".report")) {
    const std::string text = testing::read_source_file(name);
    for (size_t size = 0; size <= text.size(); ++size) {
      const std::string_view cut = std::string_view(text).substr(0, size);
      uint64_t kept = 0;
      uint64_t lost = 0;
      size_t complaints = 0;
      bool open = false;
      for (const ReportItem& item : items_of(cut)) {
        ASSERT_LE(item.offset + item.bytes.size(), size);
        kept += item.bytes.size();
        open = item.kind == ReportItem::Kind::report_begin ||
               (open && item.kind != ReportItem::Kind::report_end);
        if (!item.complaint) continue;
        ++complaints;
        lost += item.complaint->lost_bytes;
        ASSERT_EQ(item.complaint->kind, Problem::Kind::torn_tail) << name << " at " << size;
        ASSERT_LE(item.complaint->offset, size);
      }
      ASSERT_EQ(kept, size) << name << ": every byte is in an item";
      const size_t line = cut.rfind('\n') == std::string_view::npos ? 0 : cut.rfind('\n') + 1;
      // A tag that only lacks its line feed is still that tag; in a text it is a torn line.
      const bool tag = cut.ends_with('>') && lost == 0;
      ASSERT_EQ(lost, tag ? 0 : size - line) << name << " at " << size;
      const bool ended = size == 0 || cut.ends_with("</report>") || cut.ends_with("</report>\n");
      ASSERT_EQ(complaints == 0, ended) << name << " at " << size;
    }
  }
}

TEST(SamplerReport, DamageCostsItsOwnLines) {
  const std::string text = "<report id=\"samples\">\nstray\n" + samples("returns", "1\t2\t3\n") +
                           "</samples>\n<samples unit=\"u\" scheme=\"data\">\n7\n" +
                           samples("branches", "4\t5\n") + "</report>\nmore\n";
  const std::vector<ReportItem> items = items_of(text);
  using Kind = ReportItem::Kind;
  std::vector<Kind> kinds;
  for (const ReportItem& item : items) kinds.push_back(item.kind);
  EXPECT_EQ(kinds,
            (std::vector<Kind>{Kind::report_begin, Kind::skipped, Kind::samples, Kind::skipped,
                               Kind::samples, Kind::samples, Kind::report_end, Kind::skipped}));
  EXPECT_EQ(items[1].complaint->lost_bytes, 6U);
  EXPECT_EQ(items[4].body, "7\n");
  EXPECT_FALSE(items[4].closed);
  EXPECT_EQ(items[5].body, "4\t5\n");
}

TEST(SamplerReport, UnknownSubreportsAreTextWhateverTheyHold) {
  const std::string text =
      "<report id=\"samples\">\n</report>\n<report id=\"x\">\n<samples unit=\"a\" scheme=\"b\">\n"
      "</samples>\n\n</report>\n";
  const std::vector<ReportItem> items = items_of(text);
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items[3].kind, ReportItem::Kind::text);
  EXPECT_EQ(items[3].bytes, "<samples unit=\"a\" scheme=\"b\">\n</samples>\n\n");
}

TEST(SamplerSites, GoldenFilesAreWrittenAgainByteForByte) {
  for (const std::string& name : golden_files(".sites")) {
    const std::string text = testing::read_source_file(name);
    ProblemLog problems;
    const SiteInfo info = SiteInfo::read(as_bytes(text), name, 0, problems);
    EXPECT_EQ(problems.count(), 0U);
    std::string again;
    for (const SitesSection& section : info.sections()) {
      std::vector<std::string_view> rows;
      for (size_t i = 0; i < section.size(); ++i) rows.push_back(section.row(i).line);
      append_sites_section(again, section.unit, section.scheme, rows);
    }
    EXPECT_EQ(text, again);
    EXPECT_TRUE(verify_sites(as_bytes(text)).valid()) << name;
  }
}

TEST(SamplerSites, ZeroBytesCountForNothing) {
  const std::string text = testing::read_source_file("tests/golden/sampler/plugin.sites");
  std::string padded =
      text.substr(0, 100) + std::string(3, '\0') + text.substr(100) + std::string(7, '\0') + text;
  ProblemLog problems;
  const SiteInfo info = SiteInfo::read(as_bytes(padded), "f", 0, problems);
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_EQ(info.text(), text + text);
  EXPECT_EQ(info.sections().size(), 6U);
}

TEST(SamplerSites, EveryPrefixGivesItsWholeRows) {
  const std::string text = testing::read_source_file("tests/golden/sampler/plugin.sites");
  size_t before = 0;
  for (size_t size = 0; size <= text.size(); ++size) {
    ProblemLog problems;
    const SiteInfo info =
        SiteInfo::read(as_bytes(std::string_view(text).substr(0, size)), "f", 0, problems);
    size_t rows = 0;
    for (const SitesSection& section : info.sections()) rows += section.size();
    ASSERT_GE(rows, before);
    before = rows;
    const std::string_view cut = std::string_view(text).substr(0, size);
    const bool clean = size == 0 || cut.ends_with("</sites>\n") || cut.ends_with("</sites>");
    ASSERT_EQ(problems.damaged(), !clean) << size;
    for (const Problem& problem : problems.kept()) ASSERT_LE(problem.offset, size);
  }
  EXPECT_EQ(before, 4U);
}

TEST(SamplerSites, NameTheirColumns) {
  const std::string text = testing::read_source_file("tests/golden/sampler/all_schemes.sites");
  ProblemLog problems;
  const SiteInfo info = SiteInfo::read(as_bytes(text), "f", 0, problems);
  ASSERT_EQ(info.sections().size(), kSchemeCount);
  const SiteRow row = info.sections()[0].row(0);
  EXPECT_EQ(row.file(), "src/ccrypt/traverse.c");
  EXPECT_EQ(row.line_number(), "12");
  EXPECT_EQ(row.function(), "main");
  EXPECT_EQ(row.graph_number(), "5");
  EXPECT_EQ(row.column(3), "counter");
  EXPECT_EQ(row.column_count, 9U);
}

TEST(SamplerGraphs, GoldenFilesAreWrittenAgainByteForByte) {
  for (const std::string& name : golden_files(".cfg")) {
    const std::string text = testing::read_source_file(name);
    ProblemLog problems;
    const CfgInfo info = CfgInfo::read(as_bytes(text), name, 0, problems);
    EXPECT_EQ(problems.count(), 0U);
    std::string again;
    for (const CfgUnit& unit : info.units()) append_cfg_unit(again, info, unit);
    EXPECT_EQ(text, again);
    EXPECT_TRUE(verify_graphs(as_bytes(text)).valid());
  }
}

TEST(SamplerGraphs, EveryPrefixKeepsTheFunctionsBeforeTheCut) {
  const std::string text = testing::read_source_file("tests/golden/sampler/simple.cfg");
  size_t before = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    ProblemLog problems;
    const CfgInfo info =
        CfgInfo::read(as_bytes(std::string_view(text).substr(0, size)), "f", 0, problems);
    size_t functions = 0;
    for (const CfgUnit& unit : info.units()) functions += unit.function_count;
    ASSERT_GE(functions, before);
    before = functions;
    ASSERT_LE(problems.count(), 1U) << size;
  }
  EXPECT_EQ(before, 2U);
}

TEST(SamplerGraphs, WhatIsNotUnderstoodEndsAtTheNextUnit) {
  std::string text = testing::read_source_file("tests/golden/sampler/simple.cfg");
  text.replace(text.find("simple.c\t5"), 10, "simple.c\tV");
  ProblemLog problems;
  const CfgInfo info = CfgInfo::read(as_bytes(text), "f", 0, problems);
  EXPECT_EQ(problems.damage_count(), 1U);
  ASSERT_EQ(info.units().size(), 2U);
  EXPECT_FALSE(info.units()[0].whole);
  EXPECT_TRUE(info.units()[1].whole);
  EXPECT_EQ(verify_graphs(as_bytes(text)).counts[static_cast<size_t>(Violation::Kind::wrong_graph)],
            1U);
}

TEST(SamplerBacktrace, ReadsEveryFormThatGlibcWrites) {
  auto frame = parse_backtrace_frame("/lib/tls/libc.so.6(__libc_start_main+0xd3)[0xa94e23]");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->module, "/lib/tls/libc.so.6");
  EXPECT_EQ(frame->symbol, "__libc_start_main");
  EXPECT_EQ(frame->offset, 0xd3U);
  EXPECT_EQ(frame->address, 0xa94e23U);
  frame = parse_backtrace_frame("ccrypt[0x804ff1c]");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->module, "ccrypt");
  EXPECT_FALSE(frame->offset);
  frame = parse_backtrace_frame("./a (b)(+0x1139) [0x55d0]");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->module, "./a (b)");
  EXPECT_TRUE(frame->symbol.empty());
  EXPECT_EQ(frame->offset, 0x1139U);
  frame = parse_backtrace_frame("x(f-0x4)[0x10]");
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->negative_offset);
  frame = parse_backtrace_frame("[0x10]");
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->module.empty());
  for (const std::string_view bad : {"", "x", "x[10]", "x[0x]", "x[0x10", "x[0x11112222333344445]"})
    EXPECT_FALSE(parse_backtrace_frame(bad)) << bad;
}

TEST(SamplerVerifier, NamesTheFirstViolationOfEachKind) {
  const auto count = [](const Verdict& verdict, Violation::Kind kind) {
    return verdict.counts[static_cast<size_t>(kind)];
  };
  using Kind = Violation::Kind;
  const auto report = [](const std::string& inside) {
    return "<report id=\"samples\">\n" + inside + "</report>\n";
  };
  EXPECT_EQ(count(verify_report(as_bytes(report("junk\n"))), Kind::misplaced), 1U);
  EXPECT_EQ(count(verify_report(as_bytes(report(samples("branches", "1\n")))), Kind::wrong_row),
            1U);
  EXPECT_EQ(count(verify_report(as_bytes(report(samples("branches", "01\t1\n")))), Kind::wrong_row),
            1U);
  EXPECT_EQ(count(verify_report(as_bytes(report(samples("what", "1\n")))), Kind::unknown_scheme),
            1U);
  EXPECT_EQ(
      count(verify_report(as_bytes(report(samples("data", "1\n") + samples("data", "1\n2\n")))),
            Kind::uneven_sections),
      1U);
  EXPECT_EQ(count(verify_report(as_bytes("<report id=\"x\">\n</report>\n")), Kind::not_first), 1U);
  EXPECT_EQ(
      count(verify_report(as_bytes("<report  id=\"samples\">\n</report>\n")), Kind::wrong_tag), 1U);
  EXPECT_EQ(
      count(verify_report(as_bytes(report("<samples unit=\"A\" scheme=\"data\">\n</samples>\n"))),
            Kind::wrong_unit),
      1U);
  EXPECT_EQ(
      count(verify_report(as_bytes(report("") + "<report id=\"main-backtrace\">\nx\n</report>\n")),
            Kind::wrong_frame),
      1U);
  EXPECT_EQ(count(verify_report(as_bytes("<report id=\"samples\">\n")), Kind::cut), 1U);
  const std::string unit(32, 'b');
  std::string sites;
  append_sites_section(
      sites, unit, "data",
      {"a.c\t1\tf\t0\tx\tread", "a.c\t1\tf\t1\tx\ttouch", "a.c\tone\tf\t1\tx\tread"});
  EXPECT_EQ(count(verify_sites(as_bytes(sites)), Kind::wrong_word), 1U);
  EXPECT_EQ(count(verify_sites(as_bytes(sites)), Kind::wrong_row), 1U);
  const std::string graph = "*\t0.1\na.c\n" + unit + "\n+\tf\ta.c\t1\na.c\t1\n4\t\n\n\n\n";
  EXPECT_EQ(count(verify_graphs(as_bytes(graph)), Kind::missing_node), 1U);
  // For a function with two nodes: to the last one, and to the one after it.
  const auto two_nodes = [&](const std::string& successor) {
    return "*\t0.1\na.c\n" + unit + "\n+\tf\ta.c\t1\na.c\t1\n" + successor +
           "\t\n\na.c\t2\n\n\n\n\n";
  };
  EXPECT_TRUE(verify_graphs(as_bytes(two_nodes("1"))).valid());
  EXPECT_EQ(count(verify_graphs(as_bytes(two_nodes("2"))), Kind::missing_node), 1U);
}

// Chi-square of 64 bins of draws against Binomial(n, 1/4) with a fixed seed: 99.9 % of seeds pass.
TEST(SamplerDecimate, DrawsFromTheBinomialDistribution) {
  constexpr uint64_t kCount = 40;
  constexpr size_t kRows = 20000;
  std::string rows;
  for (size_t i = 0; i < kRows; ++i) rows += std::to_string(kCount) + "\n";
  std::string out;
  ProblemLog problems;
  ASSERT_TRUE(decimate(as_bytes(samples("data", rows)), 4, 7, into(out), problems));
  std::vector<uint64_t> seen(kCount + 1);
  for_each_line(items_of(out)[0].body,
                [&](std::string_view line, size_t) { ++seen.at(*parse_unsigned(line)); });
  double probability = 1;  // of k of kCount
  for (uint64_t i = 0; i < kCount; ++i) probability *= 0.75;
  double chi_square = 0;
  double rest = 0;
  double rest_seen = 0;
  int bins = 0;
  for (uint64_t k = 0; k <= kCount; ++k) {
    const double expected = probability * kRows;
    if (expected < 5) {
      rest += expected;
      rest_seen += static_cast<double>(seen[k]);
    } else {
      const double off = static_cast<double>(seen[k]) - expected;
      chi_square += off * off / expected;
      ++bins;
    }
    probability *= static_cast<double>(kCount - k) / static_cast<double>(k + 1) / 3;
  }
  chi_square += (rest_seen - rest) * (rest_seen - rest) / rest;
  EXPECT_GT(bins, 15);
  EXPECT_LT(chi_square, 45);  // 99.9 % quantile of 20 degrees of freedom: 45.3
}

TEST(SamplerDecimate, TakesTheLargestCounts) {
  std::string out;
  ProblemLog problems;
  ASSERT_TRUE(
      decimate(as_bytes(samples("data", "18446744073709551615\n")), 2, 1, into(out), problems));
  const std::string_view row = items_of(out)[0].body;
  const auto drawn = static_cast<double>(*parse_unsigned(row.substr(0, row.size() - 1)));
  EXPECT_NEAR(drawn, 9223372036854775808.0, 2e10);  // nine standard deviations
}

TEST(SamplerDecimate, LeavesBoundsTimesAndDamageAlone) {
  const std::string text =
      samples("bounds", "3\t900\n") + samples("data", "x\n") +
      "<timestamps unit=\"a\" scheme=\"data\" when=\"last\">\n77\n</timestamps>\n" +
      samples("data", "1000000\n");
  std::string all;
  std::string some;
  ProblemLog problems;
  ASSERT_TRUE(decimate(as_bytes(text), 1, 1, into(all), problems));
  EXPECT_EQ(all, text);
  ASSERT_TRUE(decimate(as_bytes(text), 100, 1, into(some), problems));
  const size_t same = text.find("1000000");
  EXPECT_EQ(some.substr(0, same), text.substr(0, same));
  const uint64_t drawn =
      *parse_unsigned(items_of(some)[3].body.substr(0, items_of(some)[3].body.size() - 1));
  EXPECT_GT(drawn, 9500U);  // five standard deviations
  EXPECT_LT(drawn, 10500U);
}

TEST(SamplerRecognise, ByHowTheTextBegins) {
  EXPECT_EQ(kind_of(as_bytes("<report id=\"samples\">\n")), TextKind::report);
  EXPECT_EQ(kind_of(as_bytes("<samples unit=\"")), TextKind::report);
  EXPECT_EQ(kind_of(as_bytes(std::string("\0\0<sites unit=\"", 15))), TextKind::sites);
  EXPECT_EQ(kind_of(as_bytes("*\t0.1\n")), TextKind::graphs);
  EXPECT_EQ(kind_of(as_bytes("<report>")), TextKind::none);
  EXPECT_EQ(kind_of({}), TextKind::none);
}

}  // namespace
}  // namespace telltale::sampler
