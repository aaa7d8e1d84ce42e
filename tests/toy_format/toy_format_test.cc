// A format of its own folder, registered in one line, is one that all of telltale knows: nothing
// else names formats.
#include "toy_format/toy_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "import/formats.h"
#include "support/golden.h"
#include "support/verb_runner.h"

namespace telltale {
namespace {

using ::testing::HasSubstr;

class ToyFormat : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { add_format(toy::kFormat); }

  // The exit status; what was printed is in printed_ and complaints_.
  int run(const testing::Words& words) {
    ::testing::internal::CaptureStderr();
    const int status = runner_.run(words);
    complaints_ = ::testing::internal::GetCapturedStderr();
    printed_ = runner_.printed();
    return status;
  }
  std::string recording(std::string_view text) {
    runner_.set_recording(text);
    return runner_.files().recording;
  }
  std::string convert(const std::string& target) {
    const std::string output = runner_.files().output;
    EXPECT_EQ(run({"convert", "--to", target, "-o", output, runner_.files().recording}), 0)
        << complaints_;
    std::ifstream file(output, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(printed_); }

  testing::VerbRunner runner_;
  std::string printed_;
  std::string complaints_;
};

constexpr std::string_view kLog =
    "toy log\n"
    "+ 100 main\n"
    "+ 150 work\n"
    "- 250 work\n"
    "+ 300 work\n"
    "- 350 work\n"
    "- 400 main\n";

TEST_F(ToyFormat, InfoTellsWhatItIs) {
  const std::string log = recording(kLog);
  ASSERT_EQ(run({"info", "--json", log}), 0) << complaints_;
  EXPECT_EQ(json()["format"], "toy");
  EXPECT_EQ(json()["records"], 6);
  EXPECT_EQ(json()["span_ns"], 300);
}

TEST_F(ToyFormat, DumpShowsItsRecords) {
  const std::string log = recording(kLog);
  ASSERT_EQ(run({"dump", log}), 0) << complaints_;
  EXPECT_THAT(printed_, HasSubstr(" Enter ns=150 function=\"work\"\n"));
  EXPECT_EQ(std::ranges::count(printed_, '\n'), 6);
}

TEST_F(ToyFormat, CheckFindsWhatIsWrong) {
  EXPECT_EQ(run({"check", recording(kLog)}), 0) << complaints_;
  EXPECT_THAT(printed_, HasSubstr("valid toy log, 6 records"));
  const std::string log = recording("toy log\n+ 100 main\n* what\n");
  EXPECT_EQ(run({"check", log}), 1);
  EXPECT_THAT(printed_, HasSubstr("line at byte 19: neither an entry nor an exit"));
  EXPECT_EQ(run({"top", "--strict", log}), 4);
}

TEST_F(ToyFormat, TopAndReportAnswer) {
  const std::string log = recording(kLog);
  ASSERT_EQ(run({"top", "--json", log}), 0) << complaints_;
  ASSERT_EQ(json()["rows"].size(), 2U);
  EXPECT_EQ(json()["rows"][0]["function"], "main");
  EXPECT_EQ(json()["rows"][0]["self_ns"], 150);
  EXPECT_EQ(json()["rows"][1]["calls"], 2);
  ASSERT_EQ(run({"report", "--json", log}), 0) << complaints_;
  EXPECT_EQ(json()["calls"], 3);
}

TEST_F(ToyFormat, ConvertWritesExportsAndItsOwnTargets) {
  recording(kLog);
  EXPECT_EQ(convert("folded"), "main 150\nmain;work 150\n");
  EXPECT_EQ(convert("toy"), kLog);
  recording("toy log\n+ 100 main\n* what\n- 120 main\n");
  EXPECT_EQ(convert("toy"), "toy log\n+ 100 main\n- 120 main\n");
  EXPECT_THAT(complaints_, HasSubstr("1: lines that are none are left out"));
}

TEST_F(ToyFormat, FiltersChooseItsCalls) {
  const std::string log = recording(kLog);
  ASSERT_EQ(run({"top", "--json", "--function", "work", "--time", "0..100ns", log}), 0);
  ASSERT_EQ(json()["rows"].size(), 1U);
  EXPECT_EQ(json()["rows"][0]["calls"], 1);
}

TEST_F(ToyFormat, AVerbThatUsesWhatItLacksSaysWhatItHas) {
  const std::string log = recording(kLog);
  EXPECT_EQ(run({"resolve", log}), 2);
  EXPECT_EQ(
      complaints_,
      "telltale: a toy log has timed calls, no counts at sites: info, top, report, flame, "
      "stacks, graph, replay, slow, histogram, diff, dump, check and convert answer for it\n");
  EXPECT_EQ(run({"convert", "--to", "mono17", "-o", "-", log}), 2);
  EXPECT_EQ(complaints_,
            "telltale: a toy log cannot be written as mono17; its recording formats are toy\n");
  EXPECT_EQ(run({"convert", "--to", "lcov", "-o", "-", log}), 2);
  EXPECT_EQ(complaints_,
            "telltale: lcov is made from counts at sites, but a toy log has timed calls\n");
}

TEST_F(ToyFormat, OtherFormatsAreNotMixedWithIt) {
  const std::string log = recording(kLog);
  const std::string report =
      std::string(testing::kSourceFolder) + "/tests/golden/sampler/all_schemes.report";
  EXPECT_EQ(run({"info", log, report}), 2);
  EXPECT_THAT(complaints_, HasSubstr("are of different formats"));
  EXPECT_EQ(run({"convert", "--to", "toy", "-o", "-", report}), 2);
  EXPECT_EQ(complaints_,
            "telltale: a feedback report cannot be written as toy; its recording formats are "
            "sampler\n");
}

TEST_F(ToyFormat, HelpListsItsTargets) {
  ASSERT_EQ(run({"help", "convert"}), 0);
  EXPECT_THAT(printed_, HasSubstr("a toy log without its bad lines"));
}

}  // namespace
}  // namespace telltale
