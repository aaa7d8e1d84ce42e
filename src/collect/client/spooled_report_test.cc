#include "collect/client/spooled_report.h"

#include <gtest/gtest.h>

#include "bytes/as_bytes.h"

namespace telltale::collect {
namespace {

constexpr const char* kSamples =
    "<report id=\"samples\">\n<samples unit=\"0123456789abcdef0123456789abcdef\" "
    "scheme=\"branches\">\n1\t0\n</samples>\n</report>\n";

StoredReport some_report() {
  StoredReport report;
  report.application = "stock";
  report.build = "b1";
  report.label = RunLabel::skipped;
  report.rule = "command";
  report.status = 3;
  report.seconds = 1.5;
  report.started = "2026-11-22T22:44:17Z";
  report.sparsity = 100;
  report.seed = 7;
  report.version = "1.2 beta";
  report.body = kSamples;
  return report;
}

std::string spooled(const std::string& outcome) {
  return std::string("<report id=\"run\">\napplication stock\nbuild b1\n</report>\n") + kSamples +
         "<report id=\"outcome\">\n" + outcome + "</report>\n";
}

TEST(SpooledReport, IsReadAsItWasWritten) {
  const auto read = read_spooled(as_bytes(to_spooled(some_report())), "x");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, some_report());
}

TEST(SpooledReport, OfATornReportEverythingElseIsKept) {
  StoredReport report = some_report();
  report.body.resize(report.body.size() - 30);
  const std::string text = to_spooled(report);
  const auto read = read_spooled(as_bytes(text), "x");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->status, 3);
  EXPECT_TRUE(read->body.starts_with(report.body));
}

TEST(SpooledReport, WithoutALabelTheOutcomeDecides) {
  const auto label = [](const std::string& outcome) {
    return read_spooled(as_bytes(spooled(outcome)), "x")->label;
  };
  EXPECT_EQ(label("status 0\n"), RunLabel::passed);
  EXPECT_EQ(label("status 1\n"), RunLabel::failed);
  EXPECT_EQ(label("signal SIGSEGV\n"), RunLabel::failed);
  EXPECT_EQ(label("signal SIGTERM\n"), RunLabel::skipped);
  EXPECT_EQ(label("signal SIGTERM\nlabel failed\n"), RunLabel::failed);
}

TEST(SpooledReport, TheLastOutcomeCounts) {
  const std::string text =
      spooled("signal SIGSEGV\n") + "<report id=\"outcome\">\nstatus 4\n</report>\n";
  const auto read = read_spooled(as_bytes(text), "x");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->signal, "");
  EXPECT_EQ(read->status, 4);
}

TEST(SpooledReport, WithoutOutcomeApplicationOrBuildItIsNone) {
  EXPECT_FALSE(read_spooled(as_bytes(kSamples), "x"));
  const std::string whole = spooled("status 0\n");
  EXPECT_TRUE(read_spooled(as_bytes(whole), "x"));
  for (const char* lost : {"application stock\n", "build b1\n"}) {
    std::string text = whole;
    text.erase(text.find(lost), std::string(lost).size());
    EXPECT_FALSE(read_spooled(as_bytes(text), "x")) << lost;
  }
  std::string text = whole;
  text.replace(text.find("stock"), 5, "../up");
  EXPECT_FALSE(read_spooled(as_bytes(text), "x"));
}

TEST(SpooledReport, RedactionKeepsSamplesAndNamesOfModules) {
  const std::string text = std::string("stray\n") + kSamples +
                           "<report id=\"main-backtrace\">\n"
                           "/home/alice/bin/stock(main+0x10)[0x401010]\n"
                           "libc.so.6(+0x5)[0x7f0005]\n"
                           "[0x12]\n"
                           "alice was here\n"
                           "</report>\n<report id=\"notes\">\nalice\n</report>\n";
  EXPECT_EQ(redacted(as_bytes(text)), std::string(kSamples) +
                                          "<report id=\"main-backtrace\">\n"
                                          "stock(main+0x10)[0x401010]\n"
                                          "libc.so.6(+0x5)[0x7f0005]\n"
                                          "[0x12]\n"
                                          "</report>\n");
}

}  // namespace
}  // namespace telltale::collect
