#include "analysis/paths/possible_blocks.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

namespace telltale {
namespace {

// Each round of the search for single activations solves the whole program.
constexpr size_t kMostRounds = 64;

std::vector<uint32_t> stops_of(const ProgramEvidence::Frame& frame, size_t blocks) {
  if (!frame.stopped_in.empty()) return frame.stopped_in;
  std::vector<uint32_t> all(blocks);
  std::iota(all.begin(), all.end(), uint32_t{0});
  return all;
}

}  // namespace

PossibleBlocks::PossibleBlocks(const ProgramFlow& flow, const FlowStructure& structure,
                               const ProgramEvidence& evidence)
    : flow_(flow), structure_(structure), evidence_(evidence), only_(flow.functions.size()) {
  find_stops();
  if (evidence.calls_return && !structure.may_resume) {
    calls_return_ = true;
    solve_all();
    return;
  }
  solve_all();
  if (!evidence.calls_return || may_have_resumed()) return;
  // No exception was caught, so none left a call.
  calls_return_ = true;
  only_.assign(only_.size(), std::nullopt);
  solve_all();
}

bool PossibleBlocks::may_have_resumed() const {
  for (uint32_t f = 0; f < flow_.functions.size(); ++f) {
    for (const ProgramFlow::Block& block : flow_.functions[f].blocks) {
      for (size_t i = 1; block.may_resume && i < block.successors.size(); ++i)
        if (reached_[f][block.successors[i]]) return true;
    }
  }
  return false;
}

void PossibleBlocks::solve_all() {
  solve();
  if (evidence_.start_returned) {
    find_returned_start();
    solve();
  }
  // What the only activation of a function did not run, the program did not run: then other calls
  // may be ruled out, and the next function on the stack may have a single activation, too.
  for (size_t round = 0; round < kMostRounds; ++round) {
    bool is_new = false;
    for (const ProgramEvidence::Stack& stack : evidence_.stacks) {
      for (size_t at = stack.size(); at-- > 0;) is_new = find_only_activation(stack, at) || is_new;
    }
    if (!is_new) break;
    solve();
  }
}

void PossibleBlocks::find_stops() {
  for (const ProgramFlow::Function& function : flow_.functions)
    stopped_.emplace_back(function.blocks.size(), false);
  for (const uint32_t function : evidence_.maybe_on_stack)
    stopped_[function].assign(stopped_[function].size(), true);
  has_frame_.assign(flow_.functions.size(), false);
  for (const ProgramEvidence::Stack& stack : evidence_.stacks) {
    for (const ProgramEvidence::Frame& frame : stack) {
      has_frame_[frame.function] = true;
      for (const uint32_t block : stops_of(frame, stopped_[frame.function].size()))
        stopped_[frame.function][block] = true;
    }
  }
}

void PossibleBlocks::solve() {
  const size_t count = flow_.functions.size();
  reached_.resize(count);
  passed_.resize(count);
  returned_.resize(count);
  for (size_t f = 0; f < count; ++f) {
    const size_t blocks = flow_.functions[f].blocks.size();
    reached_[f].assign(blocks, false);
    passed_[f].assign(blocks, false);
    returned_[f].assign(blocks, 0);
  }
  entered_.assign(count, false);
  returns_.assign(count, false);
  is_pending_.assign(count, false);
  for (uint32_t f = 0; f < count; ++f) {
    if (flow_.functions[f].is_open || flow_.functions[f].is_start || has_frame_[f]) enter(f);
  }
  while (!pending_.empty()) {
    const uint32_t f = pending_.back();
    pending_.pop_back();
    is_pending_[f] = false;
    if (may_look_at(f)) {
      visit(f);
    } else {
      // Anything may have run.
      for (std::vector<bool>& blocks : reached_) blocks.assign(blocks.size(), true);
      for (std::vector<uint32_t>& blocks : returned_)
        blocks.assign(blocks.size(), std::numeric_limits<uint32_t>::max());
      passed_ = reached_;
      pending_.clear();
    }
  }
}

bool PossibleBlocks::may_look_at(uint32_t function) const {
  const uint64_t steps = std::min(structure_.sizes[function], steps_left_);
  steps_left_ -= steps;
  return steps_left_ != 0;
}

void PossibleBlocks::enter(uint32_t function) {
  if (entered_[function]) return;
  entered_[function] = true;
  is_pending_[function] = true;
  pending_.push_back(function);
}

// Grows what is reached in the function. It is visited again when a callee turns out to return.
void PossibleBlocks::visit(uint32_t function) {
  const auto& blocks = flow_.functions[function].blocks;
  std::vector<bool>& reached = reached_[function];
  std::vector<bool> seen(blocks.size(), false);
  std::vector<uint32_t> pending;
  const auto add = [&](uint32_t block) {
    if (seen[block] || is_ruled_out(function, block)) return;
    seen[block] = reached[block] = true;
    pending.push_back(block);
  };
  bool returns = false;
  if (!blocks.empty()) add(0);
  while (!pending.empty()) {
    const uint32_t block = pending.back();
    pending.pop_back();
    if (!pass_calls(function, block)) continue;
    passed_[function][block] = true;
    returns = returns || blocks[block].returns;
    for (const uint32_t next : blocks[block].successors) add(next);
  }
  if (!returns || returns_[function]) return;
  returns_[function] = true;
  for (const uint32_t caller : structure_.callers[function]) {
    if (!entered_[caller] || is_pending_[caller]) continue;
    is_pending_[caller] = true;
    pending_.push_back(caller);
  }
}

// Enters what the block calls; whether control may leave the block.
bool PossibleBlocks::pass_calls(uint32_t function, uint32_t block) {
  const ProgramFlow::Block& of = flow_.functions[function].blocks[block];
  const auto& flags = evidence_.flags[function];
  std::ranges::for_each(of.takes, [&](uint32_t taken) { enter(taken); });
  for (size_t i = 0; i < of.calls.size(); ++i) {
    const ProgramFlow::Call& call = of.calls[i];
    std::ranges::for_each(call.callees, [&](uint32_t callee) { enter(callee); });
    if (is_stop(function, block, i)) return false;
    const bool returned =
        flags.empty() || i >= flags[block].returned.size() || flags[block].returned[i] != false;
    const bool can_return =
        !call.is_certain() ||
        std::ranges::any_of(call.callees, [&](uint32_t callee) { return returns_[callee]; });
    if (!returned || !can_return) return of.may_resume && i + 1 == of.calls.size();
    returned_[function][block] = std::max(returned_[function][block], static_cast<uint32_t>(i + 1));
  }
  return true;
}

bool PossibleBlocks::is_stop(uint32_t function, uint32_t block, size_t call) const {
  return only_[function] && only_[function]->stop == std::pair(block, call);
}

bool PossibleBlocks::is_after_stop(uint32_t function, uint32_t block, size_t call) const {
  return only_[function] && only_[function]->stop && only_[function]->stop->first == block &&
         call > only_[function]->stop->second;
}

bool PossibleBlocks::is_ruled_out(uint32_t function, uint32_t block) const {
  if (only_[function] && !only_[function]->possible[block]) return true;
  if (evidence_.flags[function].empty() || stopped_[function][block]) return false;
  const ProgramEvidence::BlockFlags& flags = evidence_.flags[function][block];
  if (flags.entered == false) return true;
  // A call that was made has returned, or a frame would be in it.
  return calls_return_ &&
         std::ranges::find(flags.returned, std::optional<bool>(false)) != flags.returned.end();
}

std::vector<Ran> PossibleBlocks::of_frame(const ProgramEvidence::Frame& frame) const {
  const BlockEdges& edges = structure_.edges[frame.function];
  if (!may_look_at(frame.function)) return std::vector<Ran>(edges.size(), Ran::maybe);
  const std::vector<uint32_t> stops = stops_of(frame, edges.size());
  std::vector<bool> possible = reached_[frame.function];
  // Paths are exact: what one passed, or did not, is known.
  for (size_t block = 0; block < frame.blocks.size(); ++block) {
    if (frame.blocks[block] == Ran::no) possible[block] = false;
  }
  // What it ran it left, unless it stopped there: no call in it is one that cannot have returned.
  if (!flow_.functions[frame.function].calls_setjmp) {
    for (uint32_t block = 0; block < edges.size(); ++block) {
      if (!passed_[frame.function][block] && std::ranges::find(stops, block) == stops.end())
        possible[block] = false;
    }
  }
  constexpr uint32_t kEntry = 0;
  possible = reach_blocks(edges, possible, std::span(&kEntry, 1));
  // After longjmp, a block may have run from which no way leads to the place of the stop.
  if (!flow_.functions[frame.function].calls_setjmp)
    possible = reach_blocks(reversed(edges), possible, stops);
  std::vector<Ran> ran(edges.size(), Ran::no);
  for (size_t block = 0; block < edges.size(); ++block) {
    if (possible[block]) ran[block] = Ran::maybe;
    if (!frame.blocks.empty() && frame.blocks[block] == Ran::yes) ran[block] = Ran::yes;
  }
  for (const uint32_t block : cut_blocks(edges, possible, stops)) ran[block] = Ran::yes;
  return ran;
}

// Whether the frame's activation, up to where it is, made a call of `callee`, or of a copy of it,
// once and no more, and no other call of the program may have called one. Calls by which copies let
// each other run do not count.
bool PossibleBlocks::calls_once(const ProgramEvidence::Frame& caller, uint32_t callee) const {
  size_t calls = 0;
  uint32_t place = 0;
  for (const uint32_t copy : structure_.copies.of(callee)) {
    for (const uint32_t f : structure_.callers[copy]) {
      if (!may_look_at(f)) return false;
      const auto& blocks = flow_.functions[f].blocks;
      for (uint32_t block = 0; block < blocks.size(); ++block) {
        if (!reached_[f][block]) continue;
        for (size_t i = 0; i < blocks[block].calls.size(); ++i) {
          const ProgramFlow::Call& call = blocks[block].calls[i];
          if (call.runs_other_copy || is_after_stop(f, block, i) ||
              std::ranges::find(call.callees, copy) == call.callees.end())
            continue;
          // Other activations of the caller may have passed what they pass to choose a copy.
          if (f != caller.function || structure_.copies.with_choice(f)[block]) return false;
          ++calls;
          place = block;
        }
      }
    }
  }
  return calls == 1 && passed_once(caller, place);
}

bool PossibleBlocks::passed_once(const ProgramEvidence::Frame& frame, uint32_t block) const {
  if (flow_.functions[frame.function].calls_setjmp) return false;
  if (!frame.times.empty()) return frame.times[block] == 1;
  const BlockEdges& edges = structure_.edges[frame.function];
  return !reach_blocks(edges, reached_[frame.function], edges[block])[block];
}

// An activation that passed a block passed only what leads to it or follows it.
void PossibleBlocks::exclude_other_ways(uint32_t function, std::vector<bool>& possible) const {
  const auto& flags = evidence_.flags[function];
  const BlockEdges& edges = structure_.edges[function];
  if (flow_.functions[function].calls_setjmp) return;
  const BlockEdges back = reversed(edges);
  for (uint32_t block = 0; block < flags.size(); ++block) {
    const auto& returned = flags[block].returned;
    // Activations that only let another copy run set flags, too.
    if (!possible[block] || structure_.copies.with_choice(function)[block] ||
        (flags[block].entered != true &&
         std::ranges::find(returned, std::optional<bool>(true)) == returned.end()))
      continue;
    if (!may_look_at(function)) return;
    const std::vector<bool> after = reach_blocks(edges, possible, std::span(&block, 1));
    const std::vector<bool> before = reach_blocks(back, possible, std::span(&block, 1));
    for (size_t other = 0; other < possible.size(); ++other)
      possible[other] = possible[other] && (after[other] || before[other]);
  }
}

// The blocks that the frame may have passed. REQUIRES: all other activations of the function only
// let another copy run.
std::vector<bool> PossibleBlocks::way_to(const ProgramEvidence::Frame& frame) const {
  const std::vector<Ran> ran = of_frame(frame);
  std::vector<bool> possible(ran.size());
  for (size_t block = 0; block < ran.size(); ++block) possible[block] = ran[block] != Ran::no;
  exclude_other_ways(frame.function, possible);
  return possible;
}

void PossibleBlocks::set_only_activation(const ProgramEvidence::Frame& frame) {
  std::vector<bool> possible = way_to(frame);
  for (const uint32_t copy : structure_.copies.of(frame.function)) {
    Only& only = only_[copy].emplace();
    only.possible = structure_.copies.with_choice(copy);
    if (copy != frame.function) continue;
    for (size_t block = 0; block < possible.size(); ++block)
      only.possible[block] = only.possible[block] || possible[block];
  }
}

// Whether what is known of calls of the function, and of its copies, tells how often it was called.
bool PossibleBlocks::may_be_single(uint32_t function) const {
  const std::vector<uint32_t>& copies = structure_.copies.of(function);
  return structure_.copies.are_chains(function) && std::ranges::none_of(copies, [&](uint32_t copy) {
           return only_[copy] || flow_.functions[copy].is_open || flow_.functions[copy].is_taken;
         });
}

// Whether the activation may have let another copy run.
bool PossibleBlocks::is_after_choices(const ProgramEvidence::Frame& frame) const {
  const std::vector<bool>& after = structure_.copies.after_choice(frame.function);
  return std::ranges::any_of(stops_of(frame, after.size()),
                             [&](uint32_t block) { return after[block]; });
}

// Blocks that do not lead to a return did not run.
void PossibleBlocks::find_returned_start() {
  for (uint32_t f = 0; f < flow_.functions.size(); ++f) {
    const ProgramFlow::Function& function = flow_.functions[f];
    if (!function.is_start || !may_be_single(f) || !structure_.copies.have_no_callers(f)) continue;
    std::vector<ProgramEvidence::Frame> at_ends;
    for (const uint32_t copy : structure_.copies.of(f)) {
      ProgramEvidence::Frame& at_end = at_ends.emplace_back();
      at_end.function = copy;
      const auto& blocks = flow_.functions[copy].blocks;
      for (uint32_t block = 0; block < blocks.size(); ++block)
        if (blocks[block].returns) at_end.stopped_in.push_back(block);
    }
    set_returned(at_ends);
  }
}

// `ends`: of all copies of a function that was called once, where they return.
void PossibleBlocks::set_returned(const std::vector<ProgramEvidence::Frame>& ends) {
  for (const ProgramEvidence::Frame& end : ends) {
    // A flag that only the last activation of the chain sets.
    if (!end.stopped_in.empty() && has_own_flag(end.function)) return set_only_activation(end);
  }
  for (const ProgramEvidence::Frame& end : ends) {
    if (end.stopped_in.empty()) continue;
    std::vector<bool> possible = way_to(end);
    const std::vector<bool>& with_choice = structure_.copies.with_choice(end.function);
    for (size_t block = 0; block < possible.size(); ++block)
      possible[block] = possible[block] || with_choice[block];
    only_[end.function] = Only{.possible = std::move(possible), .stop = {}};
  }
}

// Whether a flag tells that an activation did not just let another copy run.
bool PossibleBlocks::has_own_flag(uint32_t function) const {
  const auto& flags = evidence_.flags[function];
  for (size_t block = 0; block < flags.size(); ++block) {
    const auto& returned = flags[block].returned;
    if (!structure_.copies.with_choice(function)[block] &&
        (flags[block].entered == true ||
         std::ranges::find(returned, std::optional<bool>(true)) != returned.end()))
      return true;
  }
  return false;
}

bool PossibleBlocks::find_only_activation(const ProgramEvidence::Stack& stack, size_t at) {
  const ProgramEvidence::Frame& frame = stack[at];
  const uint32_t f = frame.function;
  // It is the last activation of a chain if it has let no other copy run.
  if (!may_be_single(f) || is_after_choices(frame)) return false;
  const std::vector<uint32_t>& copies = structure_.copies.of(f);
  if (std::ranges::any_of(copies, [&](uint32_t copy) { return flow_.functions[copy].is_start; })) {
    if (!structure_.copies.have_no_callers(f)) return false;
  } else {
    // Activations that let another copy run may be on the stack, too.
    size_t above = at + 1;
    while (above < stack.size() && is_choosing(stack[above], f)) ++above;
    if (above == stack.size()) return false;
    const ProgramEvidence::Frame& caller = stack[above];
    if (!only_[caller.function] || !calls_once(caller, f)) return false;
  }
  set_only_activation(frame);
  if (frame.call && frame.stopped_in.size() == 1 && passed_once(frame, frame.stopped_in[0]) &&
      !structure_.copies.with_choice(f)[frame.stopped_in[0]])
    only_[f]->stop = {frame.stopped_in[0], *frame.call};
  return true;
}

// Whether the frame is of another copy of the function, and has let it run.
bool PossibleBlocks::is_choosing(const ProgramEvidence::Frame& frame, uint32_t function) const {
  if (frame.stopped_in.size() != 1) return false;
  const auto& calls = flow_.functions[frame.function].blocks[frame.stopped_in[0]].calls;
  return !calls.empty() && calls.back().runs_other_copy &&
         std::ranges::find(structure_.copies.of(function), frame.function) !=
             structure_.copies.of(function).end();
}

}  // namespace telltale
