#include "import/csi/frames_of_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace telltale {
namespace {

constexpr uint64_t kOwnKey = 1;
constexpr uint64_t kAsideCopy = 2;
constexpr uint64_t kSlowCopy = 3;
constexpr uint64_t kCallerKey = 4;

csi::FlowRecord record_with(const std::string& symbol, uint64_t key) {
  csi::FlowRecord record;
  record.key = key;
  record.unit = record.file = "a.c";
  record.symbol = symbol;
  if (symbol.starts_with("f.")) record.source = "f";
  record.blocks.assign(3, {.successors = {}, .returns = true});
  return record;
}

csi::FlowRecord::Call choice_of(uint32_t block, const std::string& callee) {
  return {.block = block, .callee = callee, .runs_other_copy = true};
}

// `f` chooses `f.aside` in block 2, and calls itself in block 1, as does its copy `f.slow`.
// `f.aside` chooses. `f` is inlined into `g`, with its choice in block 2.
std::vector<csi::FlowRecord> flow_records() {
  csi::FlowRecord own = record_with("f", kOwnKey);
  own.calls = {{.block = 1, .line = 5, .callee = "f"}, choice_of(2, "f.aside")};
  csi::FlowRecord aside = record_with("f.aside", kAsideCopy);
  aside.calls = {{.block = 0, .callee = "telltale_sampler_turn_v1"},
                 choice_of(1, "f"),
                 choice_of(2, "f.slow")};
  csi::FlowRecord slow = record_with("f.slow", kSlowCopy);
  slow.calls = {{.block = 1, .line = 5, .callee = "f"}};
  csi::FlowRecord caller = record_with("g", kCallerKey);
  caller.calls = {{.block = 1, .line = 9, .callee = "f"}, {.block = 2, .callee = "f.slow"}};
  return {own, aside, slow, caller};
}

FramePaths frame_at(const std::string& symbol, uint32_t line) {
  FramePaths frame;
  frame.symbol = symbol;
  frame.function = frame.linkage_name = symbol.substr(0, symbol.find('.'));
  frame.line = line;
  frame.module = "program";
  return frame;
}

FramePaths frame_in(const std::string& symbol, uint64_t key, uint32_t block, uint32_t line) {
  FramePaths frame = frame_at(symbol, line);
  frame.place = {.flow_key = key, .block = block};
  frame.blocks.push_back({.id = {}, .lines = {{"a.c", 5}}, .ran = Ran::no, .lines_ran = {Ran::no}});
  return frame;
}

class FramesOfCopies : public testing::Test {
 protected:
  FramesOfCopies() {
    ModulePaths& module = modules_["program"];
    module.flows = flow_records();
    module.sources = {{"f.aside", "f"}, {"f.slow", "f"}};
    functions_.add_module("program", module.flows, {{.unit = "a.c", .taken = {}}}, {});
  }

  // Left of the frames that are left, the innermost first.
  std::vector<std::string> join(std::vector<FramePaths> frames) {
    for (size_t i = 0; i < frames.size(); ++i) frames[i].number = i;
    std::vector<ThreadPaths> threads(1);
    threads[0].frames = std::move(frames);
    calls_ = calls_of_frames(functions_, modules_, threads[0]);
    join_frames_of_copies(functions_, modules_, threads);
    left_ = std::move(threads[0].frames);
    std::vector<std::string> symbols;
    for (size_t i = 0; i < left_.size(); ++i) {
      EXPECT_EQ(left_[i].number, i);
      symbols.push_back(left_[i].symbol);
    }
    return symbols;
  }

  std::map<std::string, ModulePaths> modules_;
  FlowFunctions functions_;
  std::vector<size_t> calls_;
  std::vector<FramePaths> left_;
};

using Left = std::vector<std::string>;
using Numbers = std::vector<size_t>;

TEST_F(FramesOfCopies, TheCopyThatRanIsTheCall) {
  EXPECT_EQ(join({frame_in("f.slow", kSlowCopy, 0, 7), frame_in("f.aside", kAsideCopy, 2, 0),
                  frame_in("f", kOwnKey, 2, 0), frame_in("g", kCallerKey, 1, 9)}),
            (Left{"f.slow", "g"}));
  EXPECT_EQ(calls_, (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(left_[0].line, 7U);
}

TEST_F(FramesOfCopies, AFunctionThatCallsItselfIsNotJoined) {
  EXPECT_EQ(join({frame_in("f.slow", kSlowCopy, 0, 7), frame_in("f", kOwnKey, 2, 0),
                  frame_in("f.slow", kSlowCopy, 1, 5), frame_in("f", kOwnKey, 1, 5),
                  frame_in("f.aside", kAsideCopy, 1, 0), frame_in("f", kOwnKey, 2, 0),
                  frame_in("g", kCallerKey, 1, 9)}),
            (Left{"f.slow", "f.slow", "f", "g"}));
  EXPECT_EQ(calls_, (Numbers{0, 0, 1, 2, 2, 2, 3}));
}

TEST_F(FramesOfCopies, PositionsDecideWithoutLines) {
  EXPECT_EQ(join({frame_in("f", kOwnKey, 0, 0), frame_in("f.slow", kSlowCopy, 1, 0),
                  frame_in("f", kOwnKey, 2, 0)}),
            (Left{"f", "f.slow"}));
}

TEST_F(FramesOfCopies, LinesDecideWithoutPositions) {
  EXPECT_EQ(join({frame_at("f.slow", 7), frame_at("f", 0), frame_at("f.slow", 5), frame_at("f", 0),
                  frame_at("g", 9)}),
            (Left{"f.slow", "f.slow", "g"}));
  // Of a program without lines, nothing is known.
  EXPECT_EQ(join({frame_at("f.slow", 0), frame_at("f", 0)}), (Left{"f.slow", "f"}));
}

TEST_F(FramesOfCopies, AMergedCallWithoutALineMayBeOfTheSource) {
  std::vector<csi::FlowRecord>& flows = modules_["program"].flows;
  flows[0].calls[0].line = 0;
  EXPECT_EQ(join({frame_at("f.slow", 7), frame_at("f", 0), frame_at("g", 9)}),
            (Left{"f.slow", "f", "g"}));
}

TEST_F(FramesOfCopies, AChoiceThatWasInlined) {
  FramePaths inlined = frame_at("f", 0);
  inlined.inlined = true;
  EXPECT_EQ(join({frame_in("f.slow", kSlowCopy, 0, 7), inlined, frame_in("g", kCallerKey, 2, 9)}),
            (Left{"f.slow", "g"}));
  // A function that was inlined and calls itself.
  inlined.line = 5;
  EXPECT_EQ(join({frame_in("f.slow", kSlowCopy, 0, 7), inlined, frame_in("g", kCallerKey, 1, 9)}),
            (Left{"f.slow", "f", "g"}));
}

TEST_F(FramesOfCopies, NothingIsKnownOfACallWhoseCopyHasNoFrame) {
  EXPECT_EQ(join({frame_in("g", kCallerKey, 0, 8), frame_in("f", kOwnKey, 2, 0),
                  frame_in("f", kOwnKey, 1, 5)}),
            (Left{"g", "f", "f"}));
  EXPECT_TRUE(left_[1].blocks.empty());
  EXPECT_NE(left_[1].untraced, "");
  EXPECT_FALSE(left_[2].blocks.empty());
}

TEST_F(FramesOfCopies, ASignalMayInterruptTheChoice) {
  FramePaths stopped = frame_in("f.aside", kAsideCopy, 0, 0);
  stopped.interrupted = true;
  EXPECT_EQ(join({stopped, frame_in("f", kOwnKey, 2, 0), frame_in("g", kCallerKey, 1, 9)}),
            (Left{"f.aside", "g"}));
  FramePaths handled = frame_in("f", kOwnKey, 2, 0);
  handled.interrupted = true;
  EXPECT_EQ(join({frame_in("f", kOwnKey, 0, 3), handled}), (Left{"f", "f"}));
}

}  // namespace
}  // namespace telltale
