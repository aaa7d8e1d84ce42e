#include "weak_operands.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace telltale::sampler {
namespace {

// Rows 3 to 5 compare with variables 1, 0, 1; rows 9 and 10 with 1, 0.
class WeakOperandsTest : public testing::Test {
 protected:
  WeakOperandsTest() {
    weak_.addresses = addresses_.data();
    weak_.numbers = kNumbers.data();
    weak_.operands = kOperands.data();
    weak_.address_count = static_cast<uint32_t>(addresses_.size());
    weak_.operand_count = static_cast<uint32_t>(kOperands.size());
    weak_.scheme = 2;
    unit_.weak_variables = &weak_;
  }
  void define(uint32_t variable) { addresses_.at(variable) = this; }
  [[nodiscard]] std::vector<uint64_t> missing(uint32_t scheme) const {
    std::vector<uint64_t> rows;
    for (uint64_t row = 0; row < 20; ++row) {
      if (is_operand_missing(unit_, scheme, row)) rows.push_back(row);
    }
    return rows;
  }
  [[nodiscard]] const UnitDescriptor& unit() const { return unit_; }

 private:
  static constexpr std::array<uint32_t, 3> kNumbers = {1, 0, 1};
  static constexpr std::array<WeakOperands, 2> kOperands = {{{3, 3, 0}, {9, 2, 0}}};
  std::array<const void*, 2> addresses_{};
  WeakVariables weak_ = {};
  UnitDescriptor unit_ = {};
};

TEST_F(WeakOperandsTest, AreMissingWhereTheProgramLacksTheVariable) {
  EXPECT_TRUE(lacks_operands(unit()));
  EXPECT_EQ(missing(2), (std::vector<uint64_t>{3, 4, 5, 9, 10}));
  define(0);
  EXPECT_TRUE(lacks_operands(unit()));
  EXPECT_EQ(missing(2), (std::vector<uint64_t>{3, 5, 9}));
  define(1);
  EXPECT_FALSE(lacks_operands(unit()));
  EXPECT_TRUE(missing(2).empty());
}

TEST_F(WeakOperandsTest, AreOfOneScheme) { EXPECT_TRUE(missing(1).empty()); }

TEST(WeakOperands, AUnitMayHaveNone) {
  const UnitDescriptor unit = {};
  EXPECT_FALSE(lacks_operands(unit));
  EXPECT_FALSE(is_operand_missing(unit, 0, 0));
}

}  // namespace
}  // namespace telltale::sampler
