#include "import/mono/mono_stacks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace telltale {
namespace {

// Three methods at 0x100, 0x110 and 0x120.
class MonoStacksTest : public ::testing::Test {
 protected:
  MonoStacksTest() { methods_.add({{0x100, "a"}, {0x110, "b"}, {0x120, "c"}}); }
  static mono::EncodedStack encoded(uint64_t first, const std::vector<uint8_t>& steps,
                                    uint32_t methods) {
    return {first, methods, steps.data(), steps.data() + steps.size()};
  }
  std::string text(const MonoStacks::Found& found) const {
    std::string all;
    for (const FunctionId function : found.stack.functions)
      all += names_->describe(function).name + " ";
    return all;
  }

  std::shared_ptr<MonoFunctionNames> names_ = std::make_shared<MonoFunctionNames>();
  MonoMethods methods_{names_, /*share_names=*/false,
                       [] { return std::vector<MonoMethods::Found>(); }};
};

TEST_F(MonoStacksTest, EqualStacksHaveOneNumber) {
  const std::vector<uint8_t> up = {0x10, 0x10};
  const std::vector<uint8_t> again = {0x10, 0x10};  // elsewhere in memory
  const std::vector<uint8_t> other = {0x20, 0x70};  // the second step is -16
  MonoStacks stacks(methods_, ~uint64_t{0});
  const MonoStacks::Found first = stacks.find(encoded(0x100, up, 3));
  EXPECT_EQ(text(first), "a b c ");
  EXPECT_EQ(first.steps, 0x20U);
  const uint64_t number = first.stack.number;
  EXPECT_NE(number, 0U);
  EXPECT_EQ(text(stacks.find(encoded(0x100, other, 3))), "a c b ");
  EXPECT_EQ(stacks.find(encoded(0x100, other, 3)).steps, 0x10U);
  EXPECT_EQ(stacks.find(encoded(0x100, other, 3)).stack.number, number + 1);
  EXPECT_EQ(text(stacks.find(encoded(0x100, again, 3))), "a b c ");
  EXPECT_EQ(stacks.find(encoded(0x100, again, 3)).stack.number, number);
  EXPECT_EQ(text(stacks.find(encoded(0x120, {}, 1))), "c ");
  // Another reading numbers its own.
  EXPECT_NE(MonoStacks(methods_, ~uint64_t{0}).find(encoded(0x100, up, 3)).stack.number >> 32,
            number >> 32);
}

TEST_F(MonoStacksTest, AddressesWrapAtTheirSize) {
  const std::vector<uint8_t> up = {0x10};
  MonoStacks stacks(methods_, 0xFFFF'FFFF);
  EXPECT_EQ(text(stacks.find(encoded(0x5'0000'0100, up, 2))), "a b ");
}

TEST_F(MonoStacksTest, AllOfManyStacksAreFoundAgain) {
  std::vector<std::vector<uint8_t>> steps;
  for (unsigned i = 0; i < 4000; ++i) {
    // Up and down: twelve steps of 16, each with one bit of i.
    std::vector<uint8_t> one;
    for (unsigned bit = 0; bit < 12; ++bit) one.push_back((i >> bit & 1) != 0 ? 0x10 : 0x70);
    steps.push_back(std::move(one));
  }
  MonoStacks stacks(methods_, ~uint64_t{0});
  std::vector<uint64_t> numbers;
  numbers.reserve(steps.size());
  for (const auto& one : steps)
    numbers.push_back(stacks.find(encoded(0x100, one, 13)).stack.number);
  for (size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(numbers[i], numbers[0] + i);
    ASSERT_EQ(stacks.find(encoded(0x100, steps[i], 13)).stack.number, numbers[i]);
  }
}

}  // namespace
}  // namespace telltale
