#include "tallies.h"

#include <gmock/gmock.h>

#include <array>
#include <utility>
#include <vector>

#include "row_cursor.h"

namespace telltale::sampler {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Lt;

using Sums = std::array<uint64_t, kPairCounters>;

// Blocks whose bytes a test sets.
class Blocks {
 public:
  Blocks(std::vector<TallyBlock> blocks, uint32_t rows, uint32_t banks)
      : blocks_(std::move(blocks)),
        bytes_(blocks_.size() * banks * kTallyBytes),
        counters_(size_t{rows} * banks * kPairCounters) {
    scheme_.counters = counters_.data();
    scheme_.tallies = bytes_.data();
    scheme_.rows = rows;
    scheme_.arity = kPairCounters;
    scheme_.banks = banks;
    scheme_.blocks = static_cast<uint32_t>(blocks_.size());
    scheme_.tally_blocks = blocks_.data();
  }

  void set(uint32_t block, uint32_t bank, uint32_t site, uint8_t less, uint8_t greater,
           uint8_t observed) {
    const TallyBytes bytes = bytes_of(at(block, bank), site);
    bytes.less = static_cast<uint8_t>(-less);
    bytes.greater = static_cast<uint8_t>(-greater);
    bytes.observed = static_cast<uint8_t>(-observed);
  }

  Sums sums(uint32_t bank, uint32_t number, bool take = false) {
    Sums found = {};
    RowCursor row(scheme_, bank);
    for (uint32_t i = 0; i < number; ++i) row.next();
    row.visit_tallies([&](uint64_t place, uint32_t site) {
      add_tallies(bytes_.data() + place, site, take, found.data());
    });
    return found;
  }

  void add_up(uint32_t block, uint32_t bank) {
    telltale_sampler_add_up_v3(at(block, bank), bytes_.data(), blocks_.data(), counters_.data(),
                               scheme_.rows, scheme_.banks, nullptr, 0);
  }

  [[nodiscard]] std::vector<uint64_t>& counters() { return counters_; }
  [[nodiscard]] const SchemeTable& scheme() {
    scheme_.counters = counters_.data();
    return scheme_;
  }
  void clear() { clear_tallies(scheme_); }

 private:
  uint8_t* at(uint32_t block, uint32_t bank) {
    return bytes_.data() + (size_t{block} * scheme_.banks + bank) * kTallyBytes;
  }

  std::vector<TallyBlock> blocks_;
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> counters_;
  SchemeTable scheme_ = {};
};

TEST(Tallies, WhatIsNeitherLessNorGreaterIsEqual) {
  Blocks blocks({{0, 2, 0}}, 2, 1);
  blocks.set(0, 0, 1, 3, 4, 255);
  EXPECT_THAT(blocks.sums(0, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(blocks.sums(0, 1), ElementsAre(3, 248, 4));
}

TEST(Tallies, CodeThatIsInterruptedHasNoFewerThanNoEqualOnes) {
  Blocks blocks({{0, 1, 0}}, 1, 1);
  blocks.set(0, 0, 0, 1, 0, 0);
  EXPECT_THAT(blocks.sums(0, 0), ElementsAre(1, 0, 0));
}

TEST(Tallies, ARowIsFoundInAllBlocksThatHaveIt) {
  // In the order of rows: 2, 0, 1.
  Blocks blocks({{16, 16, 2}, {20, 3, 0}, {0, 16, 1}}, 40, 1);
  blocks.set(0, 0, 5, 1, 0, 1);
  blocks.set(1, 0, 1, 0, 2, 3);
  blocks.set(2, 0, 15, 0, 0, 7);
  EXPECT_THAT(blocks.sums(0, 21), ElementsAre(1, 1, 2));
  EXPECT_THAT(blocks.sums(0, 15), ElementsAre(0, 7, 0));
  // Bytes after the last site count nothing.
  blocks.set(1, 0, 3, 9, 9, 9);
  EXPECT_THAT(blocks.sums(0, 23), ElementsAre(0, 0, 0));
  EXPECT_THAT(blocks.sums(0, 39), ElementsAre(0, 0, 0));
}

TEST(Tallies, AreAddedToTheCountersOfTheirBank) {
  Blocks blocks({{0, 1, 0}, {1, 2, 1}}, 3, 2);
  blocks.set(1, 1, 1, 1, 2, 6);
  EXPECT_THAT(blocks.sums(0, 2), ElementsAre(0, 0, 0));
  EXPECT_THAT(blocks.sums(1, 2), ElementsAre(1, 3, 2));
  blocks.add_up(1, 1);
  EXPECT_THAT(blocks.counters(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 2));
  EXPECT_THAT(blocks.sums(1, 2), ElementsAre(0, 0, 0));
}

// The rows that are not skipped as zeros.
std::vector<uint32_t> rows_to_read(Blocks& blocks, uint32_t bank) {
  std::vector<uint32_t> found;
  for (RowCursor row(blocks.scheme(), bank); !row.is_end();) {
    if (const uint32_t zeros = row.zero_rows(); zeros > 0) {
      row.skip(zeros);
    } else {
      found.push_back(row.row());
      row.next();
    }
  }
  return found;
}

TEST(Tallies, RowsOfZerosAreSkipped) {
  Blocks blocks({{0, 16, 0}, {300, 2, 1}}, 1000, 2);
  EXPECT_THAT(rows_to_read(blocks, 0), ElementsAre());
  for (const uint32_t row : {0U, 63U, 64U, 500U, 999U})
    blocks.counters().at(size_t{row} * kPairCounters + row % kPairCounters) = 1;
  blocks.counters().at(size_t{1000 + 7} * kPairCounters) = uint64_t{1} << 63;
  EXPECT_THAT(rows_to_read(blocks, 0), ElementsAre(0, 63, 64, 500, 999));
  EXPECT_THAT(rows_to_read(blocks, 1), ElementsAre(7));
}

TEST(Tallies, RowsWithTalliesAreNotSkipped) {
  Blocks blocks({{0, 16, 0}, {300, 2, 2}, {299, 16, 1}}, 1000, 1);
  blocks.set(1, 0, 1, 0, 1, 1);
  EXPECT_THAT(rows_to_read(blocks, 0), Contains(301));
  // Those of the block, and none far from it.
  EXPECT_THAT(rows_to_read(blocks, 0), Each(AllOf(Ge(299U), Lt(316U))));
  blocks.set(1, 0, 1, 0, 0, 0);
  blocks.set(0, 0, 15, 1, 0, 1);
  EXPECT_THAT(rows_to_read(blocks, 0), Contains(15));
}

TEST(Tallies, AreTakenOrClearedOnce) {
  Blocks blocks({{0, 1, 0}}, 1, 1);
  blocks.set(0, 0, 0, 1, 1, 3);
  EXPECT_THAT(blocks.sums(0, 0, true), ElementsAre(1, 1, 1));
  EXPECT_THAT(blocks.sums(0, 0), ElementsAre(0, 0, 0));
  blocks.set(0, 0, 0, 1, 1, 3);
  blocks.clear();
  EXPECT_THAT(blocks.sums(0, 0), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace telltale::sampler
