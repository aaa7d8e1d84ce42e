#include "analysis/paths/program_flow.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "analysis/paths/flow_structure.h"
#include "analysis/paths/possible_blocks.h"

namespace telltale {
namespace {

constexpr uint32_t kEntryBlock = 0;

bool contains(const std::vector<uint32_t>& all, uint32_t one) {
  return std::ranges::find(all, one) != all.end();
}

// Draws conclusions from what certainly ran until there are no new ones.
class CertainBlocks {
 public:
  CertainBlocks(const ProgramFlow& flow, const ProgramEvidence& evidence,
                const PossibleBlocks& possible)
      : flow_(flow),
        evidence_(evidence),
        possible_(possible),
        has_returned_(flow.functions.size(), false),
        was_called_(flow.functions.size(), false),
        was_traced_back_(flow.functions.size(), false) {
    for (const ProgramFlow::Function& function : flow.functions) {
      ran_.emplace_back(function.blocks.size(), false);
      left_.emplace_back(function.blocks.size(), false);
      returned_.emplace_back(function.blocks.size(), 0);
      has_concluded_.emplace_back(function.blocks.size(), false);
    }
  }

  void find() {
    for (const ProgramEvidence::Stack& stack : evidence_.stacks)
      std::ranges::for_each(stack, [&](const auto& frame) { add_frame(frame); });
    for (uint32_t f = 0; f < evidence_.flags.size(); ++f) {
      for (uint32_t block = 0; block < evidence_.flags[f].size(); ++block) add_flags(f, block);
    }
    for (uint32_t f = 0; evidence_.start_returned && f < flow_.functions.size(); ++f)
      if (flow_.functions[f].is_start) returned_from(f);
    while (!pending_.empty() || !leaving_.empty()) {
      if (!leaving_.empty()) {
        const auto [function, block] = leaving_.back();
        leaving_.pop_back();
        conclude_end(function, block);
        continue;
      }
      const Entered entered = std::move(pending_.back());
      pending_.pop_back();
      conclude(entered);
    }
  }

  [[nodiscard]] bool ran(uint32_t function, size_t block) const { return ran_[function][block]; }
  [[nodiscard]] bool left(uint32_t function, size_t block) const { return left_[function][block]; }
  [[nodiscard]] uint32_t returned(uint32_t function, size_t block) const {
    return returned_[function][block];
  }
  [[nodiscard]] const std::vector<bool>& returned() const { return has_returned_; }

 private:
  // Some activation of the function entered one of the blocks.
  struct Entered {
    uint32_t function = 0;
    std::vector<uint32_t> blocks;
  };

  void add_frame(const ProgramEvidence::Frame& frame) {
    const uint32_t f = frame.function;
    const std::vector<Ran> ran = possible_.of_frame(frame);
    for (uint32_t block = 0; block < ran.size(); ++block) {
      if (ran[block] == Ran::yes) enter(f, {block});
    }
    for (const uint32_t block : frame.left) leave(f, block);
    if (!frame.stopped_in.empty() && possible_.may_look_at(f)) {
      for (const uint32_t block : cut_blocks(possible_.edges(f), possible_.of(f), frame.stopped_in))
        if (!contains(frame.stopped_in, block)) leave(f, block);
    }
    if (frame.stopped_in.size() != 1) return;
    const uint32_t block = frame.stopped_in[0];
    const auto& calls = flow_.functions[f].blocks[block].calls;
    const size_t count = std::min(frame.call.value_or(frame.returned), calls.size());
    conclude_calls(f, block, count);
    if (frame.call && count < calls.size()) called(calls[count]);
  }

  void add_flags(uint32_t function, uint32_t block) {
    const ProgramEvidence::BlockFlags& flags = evidence_.flags[function][block];
    if (flags.entered == true) enter(function, {block});
    const auto& calls = flow_.functions[function].blocks[block].calls;
    for (size_t i = std::min(flags.returned.size(), calls.size()); i-- > 0;) {
      if (flags.returned[i] != true) continue;
      enter(function, {block});
      conclude_calls(function, block, i + 1);
      break;
    }
  }

  void enter(uint32_t function, std::vector<uint32_t> blocks) {
    if (blocks.size() == 1) {
      if (has_concluded_[function][blocks[0]]) return;
      has_concluded_[function][blocks[0]] = true;
    }
    pending_.push_back({function, std::move(blocks)});
  }

  void conclude(const Entered& entered) {
    const uint32_t f = entered.function;
    if (!possible_.may_look_at(f)) return;
    const auto cuts = cut_blocks(possible_.edges(f), possible_.of(f), entered.blocks);
    for (const uint32_t block : cuts) {
      mark(f, block);
      if (!contains(entered.blocks, block)) leave(f, block);
    }
    if (!cuts.empty()) conclude_caller(f);
  }

  void mark(uint32_t function, uint32_t block) {
    if (ran_[function][block]) return;
    ran_[function][block] = true;
    const ProgramFlow::Function& of = flow_.functions[function];
    if (of.is_start && !of.is_taken && possible_.has_no_callers(function))
      std::ranges::for_each(of.constructors, [&](uint32_t f) { returned_from(f); });
    // Nothing is still in it, and nothing left it otherwise.
    if (!possible_.calls_return() || possible_.has_frame_in(function, block)) return;
    const auto& calls = of.blocks[block].calls;
    if (calls.empty() || !calls.back().may_jump) {
      leave(function, block);
    } else {
      conclude_calls(function, block, calls.size() - 1);
      called(calls.back());
    }
  }

  // Some activation of the function left the block after its last instruction. What follows is
  // concluded later: calls may be nested too deeply for the stack.
  void leave(uint32_t function, uint32_t block) {
    if (left_[function][block]) return;
    left_[function][block] = true;
    leaving_.emplace_back(function, block);
  }

  void conclude_end(uint32_t function, uint32_t block) {
    const ProgramFlow::Block& of = flow_.functions[function].blocks[block];
    const bool is_uncertain = !of.calls.empty() && may_have_resumed(function, of);
    conclude_calls(function, block, of.calls.size() - (is_uncertain ? 1 : 0));
    if (is_uncertain) called(of.calls.back());
    std::vector<uint32_t> next;
    std::ranges::copy_if(of.successors, std::back_inserter(next),
                         [&](uint32_t to) { return possible_.of(function)[to]; });
    if (!next.empty() && !of.returns) enter(function, std::move(next));
  }

  // Whether control may have gone from the block's last call to another successor than the first.
  [[nodiscard]] bool may_have_resumed(uint32_t function, const ProgramFlow::Block& block) const {
    if (!block.may_resume || block.successors.size() < 2) return block.may_resume;
    return std::any_of(block.successors.begin() + 1, block.successors.end(),
                       [&](uint32_t to) { return possible_.of(function)[to]; });
  }

  // The first calls of the block have returned.
  void conclude_calls(uint32_t function, uint32_t block, size_t count) {
    const auto& calls = flow_.functions[function].blocks[block].calls;
    uint32_t& known = returned_[function][block];
    for (; known < count; ++known) has_returned(calls[known]);
  }

  void called(const ProgramFlow::Call& call) {
    if (call.is_certain() && call.callees.size() == 1) was_entered(call.callees[0]);
  }
  void has_returned(const ProgramFlow::Call& call) {
    if (call.is_certain() && call.callees.size() == 1) returned_from(call.callees[0]);
  }

  void was_entered(uint32_t function) {
    if (was_called_[function]) return;
    was_called_[function] = true;
    enter(function, {kEntryBlock});
  }

  // Some activation of it has returned.
  void returned_from(uint32_t callee) {
    was_entered(callee);
    if (has_returned_[callee]) return;
    has_returned_[callee] = true;
    std::vector<uint32_t> ends;
    const auto& blocks = flow_.functions[callee].blocks;
    for (uint32_t block = 0; block < blocks.size(); ++block) {
      if (blocks[block].returns && possible_.of(callee)[block]) ends.push_back(block);
    }
    if (ends.size() == 1) leave(callee, ends[0]);
    if (!ends.empty()) enter(callee, std::move(ends));
  }

  // A function that ran was called: if all calls that may have are in one function, from there.
  void conclude_caller(uint32_t function) {
    if (was_traced_back_[function]) return;
    was_traced_back_[function] = true;
    const ProgramFlow::Function& of = flow_.functions[function];
    if (of.is_open || of.is_taken || of.is_start) return;
    Entered sites;
    bool is_first = true;
    for (const uint32_t f : possible_.callers(function)) {
      if (!possible_.may_look_at(f)) return;
      for (const uint32_t block : sites_in(f, function)) {
        if (!is_first && f != sites.function) return;
        is_first = false;
        sites.function = f;
        sites.blocks.push_back(block);
      }
    }
    if (!is_first) pending_.push_back(std::move(sites));
  }

  [[nodiscard]] std::vector<uint32_t> sites_in(uint32_t caller, uint32_t callee) const {
    std::vector<uint32_t> sites;
    const auto& blocks = flow_.functions[caller].blocks;
    for (uint32_t block = 0; block < blocks.size(); ++block) {
      const bool calls = std::ranges::any_of(
          blocks[block].calls, [&](const auto& call) { return contains(call.callees, callee); });
      if (calls && possible_.of(caller)[block]) sites.push_back(block);
    }
    return sites;
  }

  const ProgramFlow& flow_;
  const ProgramEvidence& evidence_;
  const PossibleBlocks& possible_;
  std::vector<std::vector<bool>> ran_;            // by function and block
  std::vector<std::vector<bool>> left_;           // by function and block
  std::vector<std::vector<uint32_t>> returned_;   // likewise: calls, from the first on
  std::vector<std::vector<bool>> has_concluded_;  // likewise: from this block alone
  std::vector<bool> has_returned_;                // by function
  std::vector<bool> was_called_;                  // by function
  std::vector<bool> was_traced_back_;             // by function
  std::vector<Entered> pending_;
  std::vector<std::pair<uint32_t, uint32_t>> leaving_;  // functions and blocks
};

std::vector<std::vector<ProgramBlocks::Frame>> frames_of(const PossibleBlocks& possible,
                                                         const ProgramEvidence& evidence) {
  std::vector<std::vector<ProgramBlocks::Frame>> stacks;
  for (const ProgramEvidence::Stack& stack : evidence.stacks) {
    auto& frames = stacks.emplace_back();
    for (const ProgramEvidence::Frame& frame : stack) {
      const bool is_first_pass =
          frame.stopped_in.size() == 1 && possible.passed_once(frame, frame.stopped_in[0]);
      frames.push_back({possible.of_frame(frame), is_first_pass});
    }
  }
  return stacks;
}

}  // namespace

std::vector<std::vector<ProgramBlocks::Frame>> blocks_of_frames(const ProgramFlow& flow,
                                                                const FlowStructure& structure,
                                                                const ProgramEvidence& evidence) {
  return frames_of(PossibleBlocks(flow, structure, evidence), evidence);
}

ProgramBlocks blocks_of_program(const ProgramFlow& flow, const FlowStructure& structure,
                                const ProgramEvidence& evidence) {
  const PossibleBlocks possible(flow, structure, evidence);
  CertainBlocks certain(flow, evidence, possible);
  certain.find();
  ProgramBlocks result;
  for (uint32_t f = 0; f < flow.functions.size(); ++f) {
    std::vector<Ran>& ran = result.functions.emplace_back(flow.functions[f].blocks.size(), Ran::no);
    std::vector<ProgramBlocks::Progress>& progress = result.progress.emplace_back();
    for (size_t block = 0; block < ran.size(); ++block) {
      if (possible.of(f)[block]) ran[block] = certain.ran(f, block) ? Ran::yes : Ran::maybe;
      progress.push_back({.certainly = certain.returned(f, block),
                          .at_most = possible.returned(f)[block],
                          .left = certain.left(f, block)});
    }
  }
  result.returned = certain.returned();
  result.frames = frames_of(possible, evidence);
  return result;
}

}  // namespace telltale
