#include "analysis/paths/function_copies.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "analysis/paths/cut_blocks.h"

namespace telltale {

FunctionCopies::FunctionCopies(const ProgramFlow& flow) : group_of_(flow.functions.size()) {
  std::iota(group_of_.begin(), group_of_.end(), uint32_t{0});
  groups_.resize(flow.functions.size());
  for (uint32_t f = 0; f < flow.functions.size(); ++f) groups_[f].members.push_back(f);
  find_groups(flow);
  for (uint32_t f = 0; f < flow.functions.size(); ++f) find_ways(flow, f);
}

void FunctionCopies::join(uint32_t a, uint32_t b) {
  a = group_of_[a];
  b = group_of_[b];
  if (a == b) return;
  for (const uint32_t member : groups_[b].members) {
    group_of_[member] = a;
    groups_[a].members.push_back(member);
  }
  groups_[b].members.clear();
}

void FunctionCopies::find_groups(const ProgramFlow& flow) {
  const auto for_each_call = [&](const auto& visit) {
    for (uint32_t f = 0; f < flow.functions.size(); ++f) {
      for (const ProgramFlow::Block& block : flow.functions[f].blocks)
        for (const ProgramFlow::Call& call : block.calls) visit(f, call);
    }
  };
  for_each_call([&](uint32_t caller, const ProgramFlow::Call& call) {
    if (!call.runs_other_copy) return;
    for (const uint32_t callee : call.callees) join(caller, callee);
  });
  for_each_call([&](uint32_t caller, const ProgramFlow::Call& call) {
    if (call.runs_other_copy && (!call.is_certain() || call.callees.size() != 1))
      groups_[group_of_[caller]].are_chains = false;
    if (call.runs_other_copy) return;
    for (const uint32_t callee : call.callees) groups_[group_of_[callee]].has_callers = true;
  });
}

void FunctionCopies::find_ways(const ProgramFlow& flow, uint32_t function) {
  const auto& blocks = flow.functions[function].blocks;
  Group& group = groups_[group_of_[function]];
  after_.emplace_back(blocks.size(), false);
  with_.emplace_back(blocks.size(), false);
  std::vector<uint32_t> choices;
  std::vector<uint32_t> next;
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    const auto& calls = blocks[block].calls;
    const auto count = std::ranges::count_if(calls, &ProgramFlow::Call::runs_other_copy);
    if (count == 0) continue;
    if (count > 1 || !calls.back().runs_other_copy || blocks[block].may_resume)
      group.are_chains = false;
    choices.push_back(block);
    next.insert(next.end(), blocks[block].successors.begin(), blocks[block].successors.end());
  }
  if (choices.empty()) return;
  if (flow.functions[function].calls_setjmp) group.are_chains = false;
  BlockEdges edges;
  for (const ProgramFlow::Block& block : blocks) edges.push_back(block.successors);
  const std::vector<bool> all(blocks.size(), true);
  after_.back() = reach_blocks(edges, all, choices);
  const std::vector<bool> before = reach_blocks(reversed(edges), all, choices);
  for (size_t block = 0; block < blocks.size(); ++block)
    with_.back()[block] = before[block] || after_.back()[block];
  const std::vector<bool> later = reach_blocks(edges, all, next);
  if (std::ranges::any_of(choices, [&](uint32_t block) { return later[block]; }))
    group.are_chains = false;
}

}  // namespace telltale
