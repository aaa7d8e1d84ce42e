#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "analysis/paths/flow_structure.h"
#include "analysis/paths/program_flow.h"

namespace telltale {
namespace {

// Random programs that run at random, until they are stopped at any place.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : engine_(seed) { make_program(); }

  void run() {
    for (uint32_t left = random(3); left-- > 0;) run_constructor();
    for (uint32_t threads = 1 + random(2); threads-- > 0;) run_thread(threads == 0);
    find_evidence();
  }
  [[nodiscard]] const ProgramFlow& flow() const { return flow_; }
  [[nodiscard]] const ProgramEvidence& evidence() const { return evidence_; }
  [[nodiscard]] bool ran(uint32_t f, uint32_t block) const { return ran_[f][block]; }
  // Whether control left the block at its end; how many of its calls returned in one pass.
  [[nodiscard]] bool left(uint32_t f, uint32_t block) const { return left_[f][block]; }
  [[nodiscard]] size_t most_returned(uint32_t f, uint32_t block) const { return most_[f][block]; }
  // If the last call became a jump, it returns when the callee does.
  [[nodiscard]] size_t most_with_jumps(uint32_t f, uint32_t block) const {
    return std::max(most_[f][block], with_jumps_[f][block]);
  }
  // Blocks of the frames of a stack, the innermost first.
  [[nodiscard]] const std::vector<std::vector<std::vector<uint32_t>>>& frames() const {
    return frame_times_;
  }

 private:
  struct Activation {
    uint32_t function = 0;
    uint32_t block = 0;
    size_t call = 0;  // the next one; of callers, the one after that which they are in
    std::vector<uint32_t> times = {};
    std::vector<uint32_t> left = {};
  };

  uint32_t random(size_t below) { return static_cast<uint32_t>(engine_() % below); }

  void make_program() {
    const uint32_t count = 2 + random(5);
    flow_.functions.resize(count);
    unwinds_ = random(3) == 0;
    jumps_ = random(2) == 0;
    is_sparse_ = random(2) == 0;
    for (uint32_t f = 0; f < count; ++f) make_function(f);
    flow_.functions[0].is_start = true;
    // Of functions that are called through pointers.
    for (uint32_t f = 1; f < count; ++f) flow_.functions[f].is_open = random(5) == 0;
    taken_.resize(count, false);
    for (ProgramFlow::Function& function : flow_.functions) {
      for (ProgramFlow::Block& block : function.blocks) {
        if (random(12) != 0) continue;
        block.takes = {1 + random(count - 1)};
        flow_.functions[block.takes[0]].is_taken = true;
      }
    }
    ran_.resize(count);
    returned_.resize(count);
    for (uint32_t f = 0; f < count; ++f) {
      ran_[f].assign(flow_.functions[f].blocks.size(), false);
      left_.push_back(ran_[f]);
      most_.emplace_back(ran_[f].size(), 0);
      with_jumps_ = most_;
      for (const auto& block : flow_.functions[f].blocks)
        returned_[f].emplace_back(block.calls.size(), false);
    }
  }

  void make_function(uint32_t f) {
    ProgramFlow::Function& function = flow_.functions[f];
    function.blocks.resize(1 + random(7));
    const auto count = static_cast<uint32_t>(function.blocks.size());
    for (uint32_t block = 1; block < count; ++block)
      function.blocks[random(block)].successors.push_back(block);
    if (count > 1) {
      for (uint32_t extra = random(count); extra-- > 0;)
        function.blocks[random(count)].successors.push_back(random(count - 1) + 1);
    }
    for (ProgramFlow::Block& block : function.blocks) {
      block.returns = block.successors.empty() && random(6) != 0;
      const uint32_t most = is_sparse_ && random(3) != 0 ? 1 : 3;
      for (uint32_t calls = random(most); calls-- > 0;) block.calls.push_back(make_call());
      if (block.calls.empty()) continue;
      if (jumps_ && block.returns && random(2) == 0) block.calls.back().may_jump = true;
      if (unwinds_ && !block.successors.empty() && random(2) == 0) block.may_resume = true;
    }
  }

  ProgramFlow::Call make_call() {
    const uint32_t callee = 1 + random(flow_.functions.size() - 1);
    if (random(5) != 0) {
      ProgramFlow::Call call{.callees = {callee}, .is_known = true};
      call.may_move = random(8) == 0;
      return call;
    }
    ProgramFlow::Call call{.callees = {callee}, .is_known = random(2) == 0};
    if (call.is_known) call.callees.push_back(1 + random(flow_.functions.size() - 1));
    return call;
  }

  // A function that code outside of the program calls, or a call through a pointer.
  std::optional<uint32_t> open_function() {
    std::vector<uint32_t> open;
    for (uint32_t f = 0; f < flow_.functions.size(); ++f)
      if (flow_.functions[f].is_open || taken_[f]) open.push_back(f);
    if (open.empty()) return std::nullopt;
    return open[random(open.size())];
  }

  void begin(std::vector<Activation>& stack, uint32_t f) {
    stack.push_back({.function = f});
    stack.back().times.assign(flow_.functions[f].blocks.size(), 0);
    enter(stack.back(), 0);
  }

  void enter(Activation& at, uint32_t block) {
    at.block = block;
    at.call = 0;
    ++at.times[block];
    ran_[at.function][block] = true;
    for (const uint32_t taken : flow_.functions[at.function].blocks[block].takes)
      taken_[taken] = true;
  }

  // One that does not return stays as a thread's activation.
  void run_constructor() {
    const std::optional<uint32_t> f = open_function();
    if (!f) return;
    std::vector<Activation> stack;
    begin(stack, *f);
    has_returned_ = false;
    run_steps(stack);
    if (stack.empty() && has_returned_) flow_.functions[0].constructors.push_back(*f);
    stacks_.push_back(std::move(stack));
  }

  void run_thread(bool is_main) {
    std::vector<Activation> stack;
    if (is_main) {
      begin(stack, 0);
    } else if (const auto f = open_function()) {
      begin(stack, *f);
    }
    run_steps(stack);
    stacks_.push_back(std::move(stack));
  }

  void run_steps(std::vector<Activation>& stack) {
    for (uint32_t steps = random(150); steps-- > 0 && !stack.empty() && stack.size() < 30;)
      step(stack);
  }

  void step(std::vector<Activation>& stack) {
    Activation& at = stack.back();
    const ProgramFlow::Block& block = flow_.functions[at.function].blocks[at.block];
    if (at.call < block.calls.size()) return make_call_of(stack, block.calls[at.call]);
    if (unwinds_ && random(30) == 0) return unwind(stack);
    if (block.returns) return finish(stack);
    if (block.successors.empty()) return;  // it waits for its end
    leave(at);
    enter(at, block.successors[random(block.successors.size())]);
  }

  void leave(Activation& at) {
    at.left.push_back(at.block);
    left_[at.function][at.block] = true;
  }

  void make_call_of(std::vector<Activation>& stack, const ProgramFlow::Call& call) {
    ++stack.back().call;
    std::optional<uint32_t> callee = call.callees[random(call.callees.size())];
    const bool directly = call.is_certain() || random(2) == 0;
    if (!directly) callee = open_function();
    if (!callee) return returned(stack.back());
    if (call.may_jump && random(2) == 0) {
      leave(stack.back());
      with_jumps_[stack.back().function][stack.back().block] = stack.back().call;
      stack.pop_back();
      begin(stack, *callee);
      return;
    }
    begin(stack, *callee);
  }

  void returned(Activation& caller) {
    returned_[caller.function][caller.block][caller.call - 1] = true;
    size_t& most = most_[caller.function][caller.block];
    most = std::max(most, caller.call);
  }

  void finish(std::vector<Activation>& stack) {
    const bool is_start = stack.back().function == 0;
    leave(stack.back());
    stack.pop_back();
    has_returned_ = stack.empty();
    start_returned_ = start_returned_ || (is_start && has_returned_);
    if (!stack.empty()) returned(stack.back());
  }

  // To the innermost call that goes on elsewhere; without one the thread ends.
  void unwind(std::vector<Activation>& stack) {
    stack.pop_back();
    while (!stack.empty()) {
      Activation& at = stack.back();
      const ProgramFlow::Block& block = flow_.functions[at.function].blocks[at.block];
      if (block.may_resume && at.call == block.calls.size()) {
        leave(at);
        // The first successor follows a call that returns.
        if (block.successors.size() == 1) return void(ended_by_unwinding_ = true);
        return enter(at, block.successors[1 + random(block.successors.size() - 1)]);
      }
      stack.pop_back();
    }
    ended_by_unwinding_ = true;
  }

  void find_evidence() {
    evidence_.calls_return = !ended_by_unwinding_;
    evidence_.start_returned = start_returned_ && random(2) == 0;
    evidence_.flags.resize(flow_.functions.size());
    for (uint32_t f = 0; f < flow_.functions.size(); ++f) {
      if (random(2) == 0) continue;
      evidence_.flags[f].resize(flow_.functions[f].blocks.size());
      for (size_t block = 0; block < evidence_.flags[f].size(); ++block) add_flags(f, block);
    }
    for (const auto& stack : stacks_) add_stack(stack);
  }

  void add_flags(uint32_t f, size_t block) {
    ProgramEvidence::BlockFlags& flags = evidence_.flags[f][block];
    if (random(3) == 0) flags.entered = ran_[f][block];
    const auto& calls = flow_.functions[f].blocks[block].calls;
    for (size_t i = 0; i < calls.size(); ++i) {
      flags.returned.emplace_back();
      if (!calls[i].may_jump && random(3) == 0) flags.returned[i] = returned_[f][block][i];
    }
  }

  void add_stack(const std::vector<Activation>& stack) {
    ProgramEvidence::Stack& frames = evidence_.stacks.emplace_back();
    auto& times = frame_times_.emplace_back();
    for (size_t i = stack.size(); i-- > 0;) {
      const Activation& at = stack[i];
      const bool is_innermost = i + 1 == stack.size();
      ProgramEvidence::Frame frame{.function = at.function};
      const auto blocks = static_cast<uint32_t>(at.times.size());
      // The place is known, or one of several, or not at all.
      const uint32_t kind = random(4);
      if (kind != 0) frame.stopped_in = {at.block};
      if (kind == 1) frame.stopped_in.push_back(random(blocks));
      if (kind == 2 && !is_innermost) frame.call = at.call - 1;
      if (kind == 3 && !is_innermost) frame.returned = random(at.call);
      if (random(2) == 0) {
        for (const uint32_t count : at.times)
          frame.blocks.push_back(count != 0 ? Ran::yes : Ran::no);
        frame.times = at.times;
        frame.left = at.left;
      }
      frames.push_back(std::move(frame));
      times.push_back(at.times);
    }
  }

  std::mt19937 engine_;
  ProgramFlow flow_;
  ProgramEvidence evidence_;
  std::vector<bool> taken_;    // by function: its address is known to calls through pointers
  bool has_returned_ = false;  // the outermost activation of the stack that ran last
  bool start_returned_ = false;
  bool unwinds_ = false;
  bool ended_by_unwinding_ = false;  // a thread, without a block that catches
  bool jumps_ = false;
  bool is_sparse_ = false;  // many functions are called in one place
  std::vector<std::vector<bool>> ran_;
  std::vector<std::vector<bool>> left_;
  std::vector<std::vector<size_t>> most_;        // calls that returned in one pass
  std::vector<std::vector<size_t>> with_jumps_;  // or were the last, and a jump
  std::vector<std::vector<std::vector<bool>>> returned_;
  std::vector<std::vector<Activation>> stacks_;
  std::vector<std::vector<std::vector<uint32_t>>> frame_times_;
};

TEST(ProgramFlowProperty, AnswersHoldForRandomPrograms) {
  size_t certain = 0;
  size_t exact = 0;
  size_t all = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Simulation simulation(seed);
    simulation.run();
    const ProgramBlocks answers = blocks_of_program(
        simulation.flow(), FlowStructure(simulation.flow()), simulation.evidence());
    for (uint32_t f = 0; f < answers.functions.size(); ++f) {
      for (uint32_t block = 0; block < answers.functions[f].size(); ++block) {
        const ProgramBlocks::Progress& progress = answers.progress[f][block];
        const size_t returned = simulation.most_returned(f, block);
        ASSERT_TRUE(progress.certainly <= simulation.most_with_jumps(f, block) &&
                    returned <= progress.at_most && (!progress.left || simulation.left(f, block)))
            << seed << ": function " << f << ", block " << block << ": " << progress.certainly
            << " <= " << returned << " <= " << progress.at_most << ", left " << progress.left;
        exact += progress.certainly == progress.at_most && returned != 0 ? 1 : 0;
        ++all;
        if (answers.functions[f][block] == Ran::maybe) continue;
        ++certain;
        ASSERT_EQ(answers.functions[f][block] == Ran::yes, simulation.ran(f, block))
            << seed << ": function " << f << ", block " << block;
      }
    }
    for (size_t stack = 0; stack < answers.frames.size(); ++stack) {
      for (size_t frame = 0; frame < answers.frames[stack].size(); ++frame) {
        const auto& [ran, stopped_at_first_pass] = answers.frames[stack][frame];
        const auto& stops = simulation.evidence().stacks[stack][frame].stopped_in;
        ASSERT_TRUE(!stopped_at_first_pass || simulation.frames()[stack][frame][stops.at(0)] == 1)
            << seed << ": frame " << frame;
        for (size_t block = 0; block < ran.size(); ++block) {
          if (ran[block] == Ran::maybe) continue;
          ASSERT_EQ(ran[block] == Ran::yes, simulation.frames()[stack][frame][block] != 0)
              << seed << ": frame " << frame << ", block " << block;
        }
      }
    }
  }
  EXPECT_GT(certain * 2, all);
  EXPECT_GT(exact, 1000U);
}

}  // namespace
}  // namespace telltale
