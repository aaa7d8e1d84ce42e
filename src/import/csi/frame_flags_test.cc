#include "import/csi/frame_flags.h"

#include <gtest/gtest.h>

#include <utility>

namespace telltale {
namespace {

// Block 0 leads to 1 or 2, both lead to 3; lines 10 to 13. Flags: of `probes` in that order.
csi::CoverageRecord diamond(uint64_t key, const std::string& mechanism,
                            std::vector<uint32_t> probes) {
  csi::CoverageRecord record;
  record.key = key;
  record.mechanism = mechanism;
  record.symbol = "f";
  record.scopes = {{.number = 0, .file = "f.c", .function = "f"}};
  const std::vector<std::vector<uint32_t>> successors = {{1, 2}, {3}, {3}, {}};
  for (uint32_t block = 0; block < 4; ++block) {
    record.blocks.push_back(
        {.probe = probes[block], .returns = block == 3, .successors = successors[block]});
    record.lines.push_back({.block = block, .scope = 0, .line = 10 + block});
    if (probes[block] != csi::CoverageRecord::kNoProbe) ++record.probes;
  }
  return record;
}

CoverageBySymbol records(std::vector<csi::CoverageRecord> all) {
  CoverageBySymbol coverage;
  for (csi::CoverageRecord& record : all) coverage.emplace("f", std::move(record));
  return coverage;
}

StackFrame frame(std::vector<std::pair<std::string, std::vector<int64_t>>> variables) {
  StackFrame made;
  made.symbol = "f";
  for (auto& [name, values] : variables)
    made.variables.push_back({.name = name, .values = std::move(values), .missing = {}});
  return made;
}

std::string words(const CoveredLines& lines) {
  std::string text;
  for (const auto& [place, ran] : lines)
    text += std::to_string(place.second) + std::string(" ") + std::string(name_of(ran)) + " ";
  return text;
}

constexpr uint32_t kNo = csi::CoverageRecord::kNoProbe;

TEST(FrameFlags, TellWhatOneCallRan) {
  const CoverageBySymbol coverage = records({diamond(1, "BBC", {kNo, 0, kNo, 1})});
  FrameFlags flags;
  const auto lines = [&](std::vector<int64_t> values) {
    return words(flags.lines_of(coverage, frame({{"__BBC_arr", std::move(values)}})));
  };
  EXPECT_EQ(lines({1, 0}), "10 yes 11 yes 12 maybe 13 no ");
  EXPECT_EQ(lines({0, 1}), "10 yes 11 no 12 yes 13 yes ");
  EXPECT_EQ(lines({0, 0}), "10 yes 11 no 12 maybe 13 no ");
  EXPECT_EQ(lines({1, 0}), "10 yes 11 yes 12 maybe 13 no ");  // again
  EXPECT_EQ(lines({1, 2}), "");                               // no flags
  EXPECT_EQ(lines({1}), "");                                  // of another function
  EXPECT_EQ(words(flags.lines_of(coverage, frame({{"__PT_curPath", {1}}}))), "");
}

TEST(FrameFlags, MechanismsAgree) {
  const CoverageBySymbol coverage =
      records({diamond(1, "BBC", {kNo, 0, kNo, kNo}), diamond(2, "CC", {kNo, kNo, kNo, 0})});
  FrameFlags flags;
  // The branch was not taken, and the call in the last block has returned.
  EXPECT_EQ(words(flags.lines_of(coverage, frame({{"__BBC_arr", {0}}, {"__CC_arr", {1}}}))),
            "10 yes 11 no 12 maybe 13 yes ");
}

TEST(FrameFlags, CopiesOfARecordAreOneAndOthersAreNotToldApart) {
  FrameFlags flags;
  const StackFrame stopped = frame({{"__BBC_arr", {1}}});
  const CoverageBySymbol copies =
      records({diamond(1, "BBC", {0, kNo, kNo, kNo}), diamond(1, "BBC", {0, kNo, kNo, kNo})});
  EXPECT_EQ(words(flags.lines_of(copies, stopped)), "10 yes 11 maybe 12 maybe 13 maybe ");
  const CoverageBySymbol others =
      records({diamond(1, "BBC", {0, kNo, kNo, kNo}), diamond(2, "BBC", {kNo, 0, kNo, kNo})});
  EXPECT_EQ(words(flags.lines_of(others, stopped)), "");
}

}  // namespace
}  // namespace telltale
