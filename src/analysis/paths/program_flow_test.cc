#include "analysis/paths/program_flow.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "analysis/paths/flow_structure.h"

namespace telltale {
namespace {

ProgramBlocks blocks_of_program(const ProgramFlow& flow, const ProgramEvidence& evidence) {
  return telltale::blocks_of_program(flow, FlowStructure(flow), evidence);
}

using Answers = std::vector<Ran>;
constexpr Ran kYes = Ran::yes;
constexpr Ran kNo = Ran::no;
constexpr Ran kMaybe = Ran::maybe;

ProgramFlow::Call call_of(uint32_t callee) { return {.callees = {callee}, .is_known = true}; }

ProgramEvidence::Frame frame_in(uint32_t function, uint32_t block, std::optional<size_t> call) {
  return {.function = function, .stopped_in = {block}, .call = call};
}

ProgramEvidence evidence_of(const ProgramFlow& flow, ProgramEvidence::Stack stack) {
  ProgramEvidence evidence;
  evidence.flags.resize(flow.functions.size());
  evidence.stacks = {std::move(stack)};
  evidence.calls_return = true;
  return evidence;
}

// main (0) calls `early` (1) in one branch or `other` (2) in the other, then `last` (3), then
// `never` (4).
ProgramFlow two_branches() {
  ProgramFlow flow;
  flow.functions.resize(5);
  flow.functions[0] = {.blocks = {{.successors = {1, 2}},
                                  {.successors = {3}, .calls = {call_of(1)}},
                                  {.successors = {3}, .calls = {call_of(2)}},
                                  {.successors = {4}, .calls = {call_of(3)}},
                                  {.calls = {call_of(4)}, .returns = true}},
                       .is_start = true};
  for (size_t f = 1; f < 5; ++f) flow.functions[f].blocks = {{.returns = true}};
  return flow;
}

TEST(ProgramFlow, WhatComesAfterTheStopOfTheOnlyActivationDidNotRun) {
  const ProgramFlow flow = two_branches();
  const auto ran =
      blocks_of_program(flow, evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)}));
  EXPECT_EQ(ran.functions[0], (Answers{kYes, kMaybe, kMaybe, kYes, kNo}));
  EXPECT_EQ(ran.functions[1], Answers{kMaybe});
  EXPECT_EQ(ran.functions[3], Answers{kYes});
  EXPECT_EQ(ran.functions[4], Answers{kNo});
}

TEST(ProgramFlow, AProgramThatEndsMadeTheCallsThatAreOnEveryWayThroughMain) {
  ProgramFlow flow = two_branches();
  flow.functions[0].blocks[0].successors.push_back(5);
  flow.functions[0].blocks.emplace_back();  // ends the program
  ProgramEvidence evidence = evidence_of(flow, {});
  EXPECT_EQ(blocks_of_program(flow, evidence).functions[4], Answers{kMaybe});
  evidence.start_returned = true;
  const auto ran = blocks_of_program(flow, evidence);
  EXPECT_EQ(ran.functions[0], (Answers{kYes, kMaybe, kMaybe, kYes, kYes, kNo}));
  EXPECT_EQ(ran.functions[2], Answers{kMaybe});
  EXPECT_EQ(ran.functions[4], Answers{kYes});
}

TEST(ProgramFlow, PathsOfACallerTellWhichFunctionsWereCalled) {
  const ProgramFlow flow = two_branches();
  ProgramEvidence evidence = evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)});
  evidence.stacks[0][1].blocks = {kYes, kYes, kNo, kYes, kNo};
  evidence.stacks[0][1].times = {1, 1, 0, 1, 0};
  const auto ran = blocks_of_program(flow, evidence);
  EXPECT_EQ(ran.functions[1], Answers{kYes});
  EXPECT_EQ(ran.functions[2], Answers{kNo});
}

TEST(ProgramFlow, AFunctionThatOthersMayCallMayHaveRun) {
  ProgramFlow flow = two_branches();
  flow.functions[4].is_open = true;
  const auto ran =
      blocks_of_program(flow, evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)}));
  EXPECT_EQ(ran.functions[4], Answers{kMaybe});
}

TEST(ProgramFlow, ACallThatReturnedRanWhatEveryWayToTheReturnPasses) {
  ProgramFlow flow = two_branches();
  flow.functions[0].blocks[2].calls = {call_of(1)};  // both branches
  flow.functions[1].blocks = {
      {.successors = {1, 2}}, {.successors = {3}}, {.successors = {3}}, {.returns = true}};
  flow.functions[0].blocks[3].calls.insert(flow.functions[0].blocks[3].calls.begin(), call_of(1));
  const auto ran =
      blocks_of_program(flow, evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 1)}));
  EXPECT_EQ(ran.functions[1], (Answers{kYes, kMaybe, kMaybe, kYes}));
}

TEST(ProgramFlow, ConstructorsReturnedBeforeTheFirstFunctionBegan) {
  ProgramFlow flow = two_branches();
  flow.functions[1].blocks = {{.successors = {1, 2}},
                              {.successors = {3}},
                              {.successors = {3}},
                              {.calls = {call_of(4)}, .returns = true}};
  flow.functions[1].is_open = true;
  flow.functions[0].constructors = {1};
  const auto ran = [&](ProgramEvidence::Stack stack) {
    return blocks_of_program(flow, evidence_of(flow, std::move(stack))).functions;
  };
  const auto in_main = ran({frame_in(3, 0, {}), frame_in(0, 3, 0)});
  EXPECT_EQ(in_main[1], (Answers{kYes, kMaybe, kMaybe, kYes}));
  EXPECT_EQ(in_main[4], Answers{kYes});
  // Stopped before.
  EXPECT_EQ(ran({frame_in(1, 0, {})})[1], (Answers{kYes, kMaybe, kMaybe, kMaybe}));
  // What is called first may have been called by a constructor.
  flow.functions[2].blocks[0].calls = {call_of(0)};
  EXPECT_EQ(ran({frame_in(3, 0, {}), frame_in(0, 3, 0)})[1],
            (Answers{kMaybe, kMaybe, kMaybe, kMaybe}));
}

TEST(ProgramFlow, CallsThatReturnedMayBeNestedDeeply) {
  constexpr uint32_t kFunctions = 200'000;
  ProgramFlow flow;
  flow.functions.push_back(
      {.blocks = {{.calls = {call_of(1), call_of(0)}, .returns = true}}, .is_start = true});
  for (uint32_t f = 1; f <= kFunctions; ++f) {
    auto& block = flow.functions.emplace_back().blocks.emplace_back();
    block.returns = true;
    if (f < kFunctions) block.calls = {call_of(f + 1)};
  }
  const auto ran = blocks_of_program(flow, evidence_of(flow, {frame_in(0, 0, 1)}));
  for (uint32_t f = 0; f <= kFunctions; ++f) ASSERT_EQ(ran.functions[f], Answers{kYes}) << f;
}

TEST(ProgramFlow, AFlagThatIsNotSetRulesOutTheCallItself) {
  ProgramFlow flow = two_branches();
  ProgramEvidence evidence = evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)});
  evidence.flags[0].resize(5);
  evidence.flags[0][1].returned = {false};
  evidence.flags[0][2].returned = {true};
  auto ran = blocks_of_program(flow, evidence);
  EXPECT_EQ(ran.functions[1], Answers{kNo});
  EXPECT_EQ(ran.functions[2], Answers{kYes});
  // If an exception had left the call, it would have left the function, too, which is on the stack.
  evidence.flags[0][2].returned = {std::nullopt};
  evidence.calls_return = false;
  ran = blocks_of_program(flow, evidence);
  EXPECT_EQ(ran.functions[1], Answers{kNo});
  EXPECT_EQ(ran.frames[0][1].blocks, (Answers{kYes, kNo, kYes, kYes, kNo}));
  // Unless the function caught it.
  flow.functions[0].blocks[1].may_resume = true;
  ran = blocks_of_program(flow, evidence);
  EXPECT_EQ(ran.functions[1], Answers{kMaybe});
  EXPECT_EQ(ran.frames[0][1].blocks, (Answers{kYes, kMaybe, kMaybe, kYes, kNo}));
}

TEST(ProgramFlow, FramesAreAnsweredAlone) {
  const ProgramFlow flow = two_branches();
  const ProgramEvidence evidence = evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)});
  EXPECT_EQ(blocks_of_frames(flow, FlowStructure(flow), evidence),
            blocks_of_program(flow, evidence).frames);
}

TEST(ProgramFlow, AnActivationThatPassedOneBranchDidNotPassTheOther) {
  const ProgramFlow flow = two_branches();
  ProgramEvidence evidence = evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)});
  evidence.flags[0].resize(5);
  evidence.flags[0][1].returned = {true};
  EXPECT_EQ(blocks_of_program(flow, evidence).functions[2], Answers{kNo});
}

TEST(ProgramFlow, CallsBehindTheOneThatHasNotReturnedWereNotMade) {
  ProgramFlow flow = two_branches();
  flow.functions[0].blocks[3].calls.push_back(call_of(4));
  auto ran = blocks_of_program(flow, evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)}));
  EXPECT_EQ(ran.functions[4], Answers{kNo});
  // In an earlier turn of a loop they may have been.
  flow.functions[0].blocks[3].successors = {3, 4};
  ran = blocks_of_program(flow, evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)}));
  EXPECT_EQ(ran.functions[4], Answers{kMaybe});
}

TEST(ProgramFlow, ACallThatWentOnNowhereElseHasReturned) {
  ProgramFlow flow = two_branches();
  flow.functions[0].blocks[3] = {.successors = {4, 5}, .calls = {call_of(3)}, .may_resume = true};
  flow.functions[0].blocks.push_back({.successors = {4}});  // catches
  ProgramEvidence evidence = evidence_of(flow, {frame_in(4, 0, {}), frame_in(0, 4, 0)});
  evidence.calls_return = false;
  EXPECT_EQ(blocks_of_program(flow, evidence).progress[0][3].certainly, 0U);
  evidence.flags[0].resize(6);
  evidence.flags[0][5].entered = false;
  EXPECT_EQ(blocks_of_program(flow, evidence).progress[0][3].certainly, 1U);
}

TEST(ProgramFlow, AFunctionThatRanWasCalled) {
  const ProgramFlow flow = two_branches();
  ProgramEvidence evidence = evidence_of(flow, {frame_in(3, 0, {}), frame_in(0, 3, 0)});
  evidence.flags[1].resize(1);
  evidence.flags[1][0].entered = true;
  EXPECT_EQ(blocks_of_program(flow, evidence).functions[0],
            (Answers{kYes, kYes, kMaybe, kYes, kNo}));
}

}  // namespace
}  // namespace telltale
