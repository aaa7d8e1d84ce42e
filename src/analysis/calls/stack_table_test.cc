#include "analysis/calls/stack_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace telltale {
namespace {

using Id = StackTable::Id;
using ::testing::ElementsAre;

TEST(StackTable, EqualStacksHaveEqualNumbers) {
  StackTable stacks;
  const Id a = stacks.push(Id::empty, FunctionId{7});
  const Id ab = stacks.push(a, FunctionId{0});
  EXPECT_EQ(stacks.push(Id::empty, FunctionId{7}), a);
  EXPECT_EQ(stacks.push(a, FunctionId{0}), ab);
  EXPECT_NE(stacks.push(Id::empty, FunctionId{0}), ab);
  EXPECT_EQ(stacks.caller(ab), a);
  EXPECT_EQ(stacks.caller(a), Id::empty);
  EXPECT_EQ(stacks.innermost(ab), FunctionId{0});
  EXPECT_EQ(stacks.depth(ab), 2U);
  EXPECT_EQ(stacks.depth(Id::empty), 0U);
  EXPECT_THAT(stacks.functions(ab), ElementsAre(FunctionId{7}, FunctionId{0}));
}

// Few callees and many, with numbers that agree in their lowest bits and with others.
TEST(StackTable, FindsAllCalleesOfAllStacksWhateverTheirNumbers) {
  StackTable stacks;
  std::map<std::pair<Id, uint32_t>, Id> known;
  std::mt19937 generator(1);
  const auto random = [&] { return static_cast<uint32_t>(generator()); };
  for (int i = 0; i < 100'000; ++i) {
    const auto caller = static_cast<Id>(random() % std::min<size_t>(stacks.size(), 500));
    const uint32_t callees = static_cast<uint32_t>(caller) % 7 == 0 ? 300 : 3;
    const uint32_t step = static_cast<uint32_t>(caller) % 2 == 0 ? 64 : 1;
    const auto function = static_cast<uint32_t>(random() % callees) * step;
    const Id stack = stacks.push(caller, FunctionId{function});
    const auto [place, is_new] = known.try_emplace({caller, function}, stack);
    ASSERT_EQ(place->second, stack);
    ASSERT_EQ(stacks.caller(stack), caller);
    ASSERT_EQ(stacks.innermost(stack), FunctionId{function});
    ASSERT_EQ(stacks.size(), known.size() + 1);
  }
}

TEST(StackTable, MergingSaysWhatTheOthersStacksAreHere) {
  StackTable here;
  here.push(here.push(Id::empty, FunctionId{1}), FunctionId{2});
  StackTable there;
  const Id two = there.push(Id::empty, FunctionId{2});
  const Id one = there.push(Id::empty, FunctionId{1});
  const Id both = there.push(one, FunctionId{2});
  const std::vector<Id> map = here.merge(there);
  ASSERT_EQ(map.size(), there.size());
  for (const Id stack : {Id::empty, two, one, both})
    EXPECT_EQ(here.functions(map[static_cast<uint32_t>(stack)]), there.functions(stack));
  EXPECT_EQ(here.size(), 4U);
}

TEST(StackTable, BasesStandForStacksThatAreKnownLater) {
  StackTable there;
  const Id first = there.push(there.base(0), FunctionId{3});
  const Id second = there.base(1);
  const Id whole = there.push(Id::empty, FunctionId{3});
  StackTable here;
  const Id one = here.push(Id::empty, FunctionId{1});
  const std::vector<Id> bases = {one, Id::empty};
  const std::vector<Id> map = here.merge(there, bases);
  EXPECT_THAT(here.functions(map[static_cast<uint32_t>(first)]),
              ElementsAre(FunctionId{1}, FunctionId{3}));
  EXPECT_EQ(map[static_cast<uint32_t>(second)], Id::empty);
  EXPECT_THAT(here.functions(map[static_cast<uint32_t>(whole)]), ElementsAre(FunctionId{3}));
  EXPECT_EQ(here.size(), 4U);  // no base is among them
}

TEST(StackTable, InternsStacksWithCommonCallers) {
  std::mt19937 random(5);
  StackTable table;
  std::map<std::vector<FunctionId>, Id> known;
  std::vector<FunctionId> stack;
  for (int i = 0; i < 2000; ++i) {
    stack.resize(random() % (stack.size() + 1));
    for (unsigned more = random() % 4; more != 0; --more)
      stack.push_back(FunctionId{static_cast<uint32_t>(random() % 3)});
    const Id id = table.intern(stack);
    ASSERT_EQ(table.functions(id), stack);
    ASSERT_EQ(known.try_emplace(stack, id).first->second, id);
    if (i % 10 == 0) table.push(id, FunctionId{7});  // pushed in between
  }
}

TEST(StackTable, RemembersTheNumberedStacksOfAReading) {
  StackTable table;
  int asked = 0;
  const auto intern = [&](uint64_t number, const std::vector<FunctionId>& functions) {
    return table.intern(RecordedStack{true, functions, number}, [&](auto all) {
      ++asked;
      return all;
    });
  };
  constexpr uint64_t kFirst = uint64_t{1} << 32;
  constexpr uint64_t kSecond = uint64_t{2} << 32;
  const std::vector<FunctionId> one = {FunctionId{1}, FunctionId{2}};
  const std::vector<FunctionId> two = {FunctionId{1}, FunctionId{3}};
  const Id id_of_one = intern(kFirst, one);
  const Id id_of_two = intern(kFirst + 5, two);
  EXPECT_NE(id_of_one, id_of_two);
  EXPECT_EQ(intern(kFirst, one), id_of_one);
  EXPECT_EQ(intern(kFirst + 5, two), id_of_two);
  EXPECT_EQ(asked, 2);
  // The same numbers in another reading are other stacks.
  EXPECT_EQ(intern(kSecond, two), id_of_two);
  EXPECT_EQ(intern(kSecond + 5, one), id_of_one);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(intern(0, two), id_of_two);
  EXPECT_EQ(intern(0, one), id_of_one);
  EXPECT_EQ(asked, 6);
}

}  // namespace
}  // namespace telltale
