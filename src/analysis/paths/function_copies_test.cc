#include "analysis/paths/function_copies.h"

#include <gtest/gtest.h>

#include <vector>

namespace telltale {
namespace {

using Blocks = std::vector<ProgramFlow::Block>;

ProgramFlow::Call call(uint32_t callee) { return {.callees = {callee}, .is_known = true}; }
ProgramFlow::Call other_copy(uint32_t callee) {
  return {.callees = {callee}, .is_known = true, .runs_other_copy = true};
}

// 0: block 1 lets function 1 run, block 2 goes on to block 3; 2: called by the copy, 1.
ProgramFlow two_copies() {
  ProgramFlow flow;
  flow.functions = {
      {.blocks = Blocks{{.successors = {1, 2}},
                        {.calls = {other_copy(1)}, .returns = true},
                        {.successors = {3}},
                        {.returns = true}}},
      {.blocks = Blocks{{.calls = {call(2)}, .returns = true}}},
      {.blocks = Blocks{{.returns = true}}},
  };
  return flow;
}

TEST(FunctionCopies, AreOneFunctionWithWaysToItsChoices) {
  const FunctionCopies copies(two_copies());
  EXPECT_EQ(copies.of(1), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(copies.of(2), std::vector<uint32_t>{2});
  EXPECT_TRUE(copies.are_chains(0));
  EXPECT_EQ(copies.with_choice(0), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(copies.after_choice(0), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(copies.with_choice(1), std::vector<bool>{false});
  EXPECT_TRUE(copies.have_no_callers(0));
  EXPECT_TRUE(copies.have_no_callers(1));
  EXPECT_FALSE(copies.have_no_callers(2));
}

TEST(FunctionCopies, ThatCallEachOtherHaveCallers) {
  ProgramFlow flow = two_copies();
  flow.functions[0].blocks[3].calls = {call(1)};
  const FunctionCopies copies(flow);
  EXPECT_FALSE(copies.have_no_callers(0));
  EXPECT_TRUE(copies.are_chains(0));
}

TEST(FunctionCopies, AreNoChainsIfOneMayRunOthersTwice) {
  ProgramFlow flow = two_copies();
  flow.functions[0].blocks[1].returns = false;
  flow.functions[0].blocks[1].successors = {0};
  EXPECT_FALSE(FunctionCopies(flow).are_chains(1));
  flow = two_copies();
  flow.functions[0].blocks[1].calls = {other_copy(1), call(2)};
  EXPECT_FALSE(FunctionCopies(flow).are_chains(1));
  flow = two_copies();
  flow.functions[0].blocks[1].calls[0].is_known = false;
  EXPECT_FALSE(FunctionCopies(flow).are_chains(1));
  flow = two_copies();
  flow.functions[0].calls_setjmp = true;
  EXPECT_FALSE(FunctionCopies(flow).are_chains(1));
}

}  // namespace
}  // namespace telltale
