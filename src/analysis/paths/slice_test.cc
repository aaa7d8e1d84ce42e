#include "analysis/paths/slice.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using Storage = FunctionData::Storage;
using StepKind = FunctionData::Kind;
using Step = FunctionData::Step;
using Part = FunctionData::Part;
using Lines = std::set<uint32_t>;

// Objects of each function below.
enum Object : uint32_t { kMemory, kA, kB, kShared, kGlobal };

Step writes(uint32_t line, Part part, std::vector<Part> reads = {}) {
  return {.kind = StepKind::store,
          .line = line,
          .uses = {.values = {}, .contents = std::move(reads), .addresses = {}},
          .writes = {part}};
}
Part all_of(uint32_t object) { return {.object = object, .is_exact = true}; }
Part some_of(uint32_t object) { return {.object = object}; }
Part bytes_of(uint32_t object, uint64_t begin, uint64_t end) {
  return {.object = object, .begin = begin, .end = end, .is_exact = true};
}
Step branch(uint32_t line, uint32_t object) {
  return {.kind = StepKind::branch,
          .line = line,
          .uses = {.values = {}, .contents = {some_of(object)}, .addresses = {}}};
}

// A program of one or two functions; the first is `main`.
class SmallProgram {
 public:
  void add(std::vector<ProgramFlow::Block> blocks, std::vector<std::vector<Step>> steps,
           uint32_t parameters = 0) {
    FunctionData data;
    data.parameters = parameters;
    data.objects = {{.storage = Storage::memory, .name = {}},
                    {.storage = Storage::local, .name = "a"},
                    {.storage = Storage::local, .name = "b"},
                    {.storage = Storage::shared_local, .name = "shared"},
                    {.storage = Storage::global, .name = "global"}};
    for (uint32_t block = 0; block < steps.size(); ++block) {
      for (uint32_t i = 0; i < steps[block].size(); ++i) {
        if (!steps[block][i].value) continue;
        steps[block][i].value = parameters + static_cast<uint32_t>(data.results.size());
        data.results.push_back({.block = block, .step = i});
      }
      data.blocks.push_back({std::move(steps[block])});
    }
    flow_.functions.push_back({.blocks = std::move(blocks), .is_start = flow_.functions.empty()});
    data_.push_back(std::move(data));
  }
  // All blocks of all functions may have run.
  [[nodiscard]] SliceEvidence stopped_at(uint32_t block, uint32_t line) const {
    SliceEvidence told;
    for (const FunctionData& data : data_) told.ran.emplace_back(data.blocks.size(), Ran::maybe);
    told.frames = {{.function = 0, .blocks = told.ran[0], .stopped_in = {block}, .line = line}};
    return told;
  }
  [[nodiscard]] Slice slice(const SliceEvidence& evidence,
                            uint64_t most_work = kMostSliceWork) const {
    std::vector<const FunctionData*> data;
    for (const FunctionData& each : data_) data.push_back(&each);
    return slice_backward(flow_, data, evidence, most_work);
  }
  [[nodiscard]] Lines lines(const SliceEvidence& evidence) const {
    Lines lines;
    for (const Slice::Step& step : slice(evidence).steps)
      lines.insert(data_[step.function].blocks[step.block].steps[step.step].line);
    return lines;
  }
  ProgramFlow& flow() { return flow_; }

 private:
  ProgramFlow flow_;
  std::vector<FunctionData> data_;
};

TEST(Slice, TheNewestDefinitionHidesOlderOnes) {
  SmallProgram program;
  program.add({{.returns = true}}, {{writes(1, all_of(kA)), writes(2, all_of(kA)),
                                     writes(3, all_of(kB)), writes(4, all_of(kB), {some_of(kA)})}});
  EXPECT_EQ(program.lines(program.stopped_at(0, 4)), (Lines{2, 4}));
}

TEST(Slice, ADefinitionOfAPartHidesOnlyThatPart) {
  SmallProgram program;
  program.add({{.returns = true}},
              {{writes(1, all_of(kA)), writes(2, bytes_of(kA, 0, 4)), writes(3, bytes_of(kA, 4, 8)),
                writes(4, all_of(kB), {bytes_of(kA, 0, 4)}), writes(5, some_of(kA)),
                writes(6, all_of(kB), {some_of(kA)})}});
  EXPECT_EQ(program.lines(program.stopped_at(0, 4)), (Lines{2, 4}));
  EXPECT_EQ(program.lines(program.stopped_at(0, 6)), (Lines{1, 2, 3, 5, 6}));
}

TEST(Slice, PointersLeadToSharedObjectsOnly) {
  SmallProgram program;
  program.add(
      {{.returns = true}},
      {{writes(1, all_of(kA)), writes(2, all_of(kShared)), writes(3, all_of(kGlobal)),
        writes(4, some_of(kMemory)), writes(5, all_of(kB), {some_of(kA)}),
        writes(6, all_of(kB), {some_of(kShared)}), writes(7, all_of(kB), {some_of(kMemory)})}});
  EXPECT_EQ(program.lines(program.stopped_at(0, 5)), (Lines{1, 5}));
  EXPECT_EQ(program.lines(program.stopped_at(0, 6)), (Lines{2, 4, 6}));
  EXPECT_EQ(program.lines(program.stopped_at(0, 7)), (Lines{2, 3, 4, 7}));
}

// 0 chooses 1 or 2, which write `a`; 3 uses it.
SmallProgram two_ways() {
  SmallProgram program;
  program.add({{.successors = {1, 2}}, {.successors = {3}}, {.successors = {3}}, {.returns = true}},
              {{writes(1, all_of(kB)), branch(2, kB)},
               {writes(3, all_of(kA))},
               {writes(4, all_of(kA))},
               {writes(5, all_of(kB), {some_of(kA)})}});
  return program;
}

TEST(Slice, WhatDidNotRunIsLeftOut) {
  const SmallProgram program = two_ways();
  SliceEvidence evidence = program.stopped_at(3, 5);
  EXPECT_EQ(program.lines(evidence), (Lines{1, 2, 3, 4, 5}));
  evidence.frames[0].blocks = {Ran::yes, Ran::no, Ran::yes, Ran::yes};
  EXPECT_EQ(program.lines(evidence), (Lines{1, 2, 4, 5}));
  EXPECT_EQ(program.lines(stack_alone(evidence)), (Lines{1, 2, 3, 4, 5}));
}

// 1 is a loop: it writes `a` in 2 or 3, and ends in 4.
TEST(Slice, TheOrderOfBlocksTellsWhichDefinitionWasTheLast) {
  SmallProgram program;
  program.add({{.successors = {1}},
               {.successors = {2, 3}},
               {.successors = {1, 4}},
               {.successors = {1, 4}},
               {.returns = true}},
              {{writes(1, all_of(kA))},
               {branch(2, kB)},
               {writes(3, all_of(kA)), branch(4, kB)},
               {writes(5, all_of(kA)), branch(6, kB)},
               {writes(7, all_of(kB), {some_of(kA)})}});
  SliceEvidence evidence = program.stopped_at(4, 7);
  EXPECT_EQ(program.lines(evidence), (Lines{2, 3, 4, 5, 6, 7}));
  evidence.frames[0].ways = {{0, 1, 2, 1, 3, 4}};
  evidence.frames[0].is_whole = true;
  EXPECT_FALSE(program.lines(evidence).contains(3));
  EXPECT_TRUE(program.lines(evidence).contains(5));
  // Two readings: either may be true.
  evidence.frames[0].ways.push_back({0, 1, 2, 4});
  EXPECT_TRUE(program.lines(evidence).contains(3));
}

TEST(Slice, AWayThatFollowsNoEdgesIsNotUsed) {
  const SmallProgram program = two_ways();
  SliceEvidence evidence = program.stopped_at(3, 5);
  evidence.frames[0].ways = {{0, 3}};
  evidence.frames[0].is_whole = true;
  EXPECT_EQ(program.lines(evidence), (Lines{1, 2, 3, 4, 5}));
}

Step calls(uint32_t line, std::vector<FunctionData::Uses> arguments,
           std::optional<uint32_t> value) {
  FunctionData::Call call;
  call.arguments = std::move(arguments);
  return {.kind = StepKind::call, .line = line, .value = value, .call = std::move(call)};
}

// main writes `a` and `b` and calls the second function with both; it returns the first, and writes
// `global`.
SmallProgram with_callee() {
  const auto argument = [](uint32_t object) {
    return FunctionData::Uses{.values = {}, .contents = {some_of(object)}, .addresses = {}};
  };
  SmallProgram program;
  Step use = writes(5, all_of(kShared));
  use.uses.values = {0};
  program.add({{.calls = {{.callees = {1}, .is_known = true}}, .returns = true}},
              {{writes(1, all_of(kA)), writes(2, all_of(kB)), writes(3, all_of(kGlobal)),
                calls(4, {argument(kA), argument(kB)}, 0), use,
                writes(6, all_of(kB), {some_of(kGlobal)})}});
  program.add({{.returns = true}},
              {{writes(10, some_of(kGlobal)),
                {.kind = StepKind::ret,
                 .line = 11,
                 .uses = {.values = {0}, .contents = {}, .addresses = {}}}}},
              2);
  return program;
}

TEST(Slice, FollowsWhatACallReturnsToItsArguments) {
  const SmallProgram program = with_callee();
  EXPECT_EQ(program.lines(program.stopped_at(0, 5)), (Lines{1, 4, 5, 11}));
}

TEST(Slice, FollowsWhatACallWrites) {
  const SmallProgram program = with_callee();
  EXPECT_EQ(program.lines(program.stopped_at(0, 6)), (Lines{3, 4, 6, 10}));
  SliceEvidence evidence = program.stopped_at(0, 6);
  evidence.ran[1] = {Ran::no};
  EXPECT_EQ(program.lines(evidence), (Lines{3, 6}));
}

TEST(Slice, FollowsParametersToTheCallOnTheStack) {
  const SmallProgram program = with_callee();
  SliceEvidence evidence = program.stopped_at(0, 4);
  evidence.frames[0].is_in_call = true;
  evidence.frames.insert(evidence.frames.begin(),
                         {.function = 1, .blocks = {Ran::yes}, .stopped_in = {0}, .line = 11});
  const Slice slice = program.slice(evidence);
  std::set<std::pair<std::optional<size_t>, uint32_t>> found;
  for (const Slice::Step& step : slice.steps) found.emplace(step.frame, step.step);
  // The second argument is not used.
  EXPECT_EQ(found, (std::set<std::pair<std::optional<size_t>, uint32_t>>{{0, 1}, {1, 0}, {1, 3}}));
  EXPECT_EQ(slice.steps.front().reasons.front().why, Slice::Why::stopped);
}

TEST(Slice, UnknownCodeMayWriteWhatPointersLeadTo) {
  SmallProgram program = with_callee();
  program.flow().functions[0].blocks[0].calls[0] = {};
  const Slice slice = program.slice(program.stopped_at(0, 6));
  EXPECT_TRUE(slice.notes.contains(Slice::Note::unknown_calls));
  EXPECT_EQ(program.lines(program.stopped_at(0, 6)), (Lines{1, 2, 3, 4, 6}));
}

TEST(Slice, OtherThreadsMayWriteAtAnyTime) {
  SmallProgram program = two_ways();
  program.add({{.returns = true}}, {{writes(10, all_of(kGlobal))}});
  program.flow().functions[1].is_open = true;
  SmallProgram reader;
  reader.add({{.returns = true}},
             {{writes(1, all_of(kGlobal)), writes(2, all_of(kB), {some_of(kGlobal)})}});
  reader.add({{.returns = true}}, {{writes(10, all_of(kGlobal))}});
  SliceEvidence evidence = reader.stopped_at(0, 2);
  EXPECT_EQ(reader.lines(evidence), (Lines{1, 2}));
  evidence.others_write = true;
  EXPECT_EQ(reader.lines(evidence), (Lines{1, 2, 10}));
}

TEST(Slice, WhatRunsBeforeMainCountsIfItMayWriteWhatIsUsed) {
  const auto with_constructor = [](uint32_t written) {
    SmallProgram program;
    program.add({{.successors = {1}}, {.returns = true}},
                {{writes(1, all_of(kB), {some_of(kGlobal)})}, {writes(2, all_of(kGlobal))}});
    program.add({{.returns = true}}, {{writes(10, all_of(written))}});
    program.flow().functions[1].is_open = true;
    return program.lines(program.stopped_at(0, 1));
  };
  EXPECT_EQ(with_constructor(kA), (Lines{1}));
  EXPECT_EQ(with_constructor(kGlobal), (Lines{1, 2, 10}));
}

// All of what was found is there, and how much of it was not followed.
TEST(Slice, SaysWhatIsMissingIfItIsGivenUp) {
  SmallProgram program;
  program.add({{.returns = true}}, {{writes(1, all_of(kA)), writes(2, all_of(kB), {some_of(kA)}),
                                     writes(3, all_of(kGlobal), {some_of(kB)})}});
  const SliceEvidence evidence = program.stopped_at(0, 3);
  const Slice whole = program.slice(evidence);
  EXPECT_EQ(whole.steps.size(), 3U);
  EXPECT_EQ(whole.unfollowed, 0U);
  EXPECT_FALSE(whole.notes.contains(Slice::Note::too_long));
  const Slice part = program.slice(evidence, 2);
  EXPECT_TRUE(part.notes.contains(Slice::Note::too_long));
  EXPECT_EQ(part.steps.size(), 2U);
  EXPECT_EQ(part.unfollowed, 2U);
}

// Each function calls the next one; the last writes what `main` reads. Following them one inside
// the other would need more than a thread's stack.
TEST(Slice, CallsMayBeNestedDeeply) {
  constexpr uint32_t kFunctions = 60'000;
  SmallProgram program;
  for (uint32_t f = 0; f <= kFunctions; ++f) {
    std::vector<Step> steps;
    if (f == kFunctions) steps = {writes(9, all_of(kGlobal))};
    if (f < kFunctions) steps = {{.kind = StepKind::call, .line = 2, .call = FunctionData::Call{}}};
    if (f == 0) steps.push_back(writes(3, all_of(kB), {some_of(kGlobal)}));
    std::vector<ProgramFlow::Call> calls;
    if (f < kFunctions) calls = {{.callees = {f + 1}, .is_known = true}};
    program.add({{.calls = std::move(calls), .returns = true}}, {std::move(steps)});
  }
  EXPECT_EQ(program.lines(program.stopped_at(0, 3)), (Lines{2, 3, 9}));
}

// A stack that overflowed: each activation reads memory, which any caller may have written, and
// passes its parameter on. The work must not grow with the square of the number of frames.
TEST(Slice, StacksMayBeDeep) {
  constexpr size_t kFrames = 30'000;
  SmallProgram program;
  Step call = {.kind = StepKind::call, .line = 2, .call = FunctionData::Call{}};
  call.call->arguments = {{.values = {0}, .contents = {some_of(kMemory)}, .addresses = {}}};
  program.add({{.calls = {{.callees = {0}, .is_known = true}}, .returns = true}},
              {{writes(1, some_of(kMemory), {some_of(kMemory)}), call}}, 1);
  SliceEvidence evidence = program.stopped_at(0, 2);
  evidence.frames[0].is_in_call = true;
  evidence.frames.resize(kFrames, evidence.frames[0]);
  evidence.frames[0].is_in_call = false;
  const Slice slice = program.slice(evidence);
  EXPECT_FALSE(slice.notes.contains(Slice::Note::too_long));
  std::set<size_t> frames;
  for (const Slice::Step& step : slice.steps)
    if (step.frame) frames.insert(*step.frame);
  EXPECT_EQ(frames.size(), kFrames);
}

}  // namespace
}  // namespace telltale
