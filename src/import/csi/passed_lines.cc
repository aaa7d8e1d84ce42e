#include "import/csi/passed_lines.h"

#include <algorithm>

namespace telltale {
namespace {

using csi::FlowRecord;

// The blocks with a call that runs another copy instead of the function itself, and which copy.
std::map<uint32_t, uint32_t> other_copies(const FlowRecord& record,
                                          const ProgramFlow::Function& flow) {
  std::map<uint32_t, uint32_t> copies;
  size_t number = 0;
  const FlowRecord::Call* before = nullptr;
  for (const FlowRecord::Call& call : record.calls) {
    number = before != nullptr && before->block == call.block ? number + 1 : 0;
    before = &call;
    const ProgramFlow::Call& known = flow.blocks[call.block].calls[number];
    if (call.runs_other_copy && known.is_certain() && known.callees.size() == 1)
      copies.emplace(call.block, known.callees[0]);
  }
  return copies;
}

}  // namespace

PassedLines::PassedLines(const FlowFunctions& functions, const ProgramEvidence& known,
                         const ProgramBlocks& ran)
    : functions_(functions), ran_(ran) {
  for (uint32_t f = 0; f < ran.returned.size(); ++f)
    if (ran.returned[f]) pending_.push_back({f});
  for (size_t stack = 0; stack < known.stacks.size(); ++stack) {
    for (size_t at = 0; at < known.stacks[stack].size(); ++at)
      add_frame(known.stacks[stack][at], ran.frames[stack][at].blocks);
  }
  while (!pending_.empty()) {
    const Indices next = std::move(pending_.back());
    pending_.pop_back();
    if (known_.insert(next).second) add_returned(next);
  }
}

PassedLines::Function PassedLines::name_of(uint32_t function) const {
  const FlowFunction& of = functions_.functions()[function];
  return {of.module, of.source, of.file};
}

PassedLines::Graph PassedLines::graph_of(const Indices& functions) const {
  Graph graph;
  Indices members = functions;
  std::map<uint32_t, uint32_t> begins;  // of functions, in `blocks`
  uint32_t end = 0;
  const auto begin_of = [&](uint32_t function) {
    const auto [known, is_new] = begins.try_emplace(function, end);
    if (is_new) end += static_cast<uint32_t>(functions_.flow().functions[function].blocks.size());
    return std::pair(known->second, is_new);
  };
  for (const uint32_t f : functions) graph.entries.push_back(begin_of(f).first);
  for (size_t i = 0; i < members.size(); ++i) {
    const uint32_t f = members[i];
    const ProgramFlow::Function& flow = functions_.flow().functions[f];
    const FlowRecord& record = *functions_.functions()[f].copies.front();
    const std::map<uint32_t, uint32_t> copies = other_copies(record, flow);
    const uint32_t begin = begins.at(f);
    for (uint32_t block = 0; block < flow.blocks.size(); ++block) {
      Graph::Block of{.function = f,
                      .index = block,
                      .is_possible = ran_.functions[f][block] != Ran::no,
                      .is_end = flow.blocks[block].returns,
                      .next = {}};
      if (const auto copy = copies.find(block); copy != copies.end()) {
        const auto [entry, is_new] = begin_of(copy->second);
        if (is_new) members.push_back(copy->second);
        of.runs_other_copy = true;
        of.next = {entry};
        of.is_end = false;
      } else {
        for (const uint32_t next : flow.blocks[block].successors) of.next.push_back(begin + next);
      }
      graph.blocks.push_back(std::move(of));
    }
  }
  graph.functions = members.size();
  return graph;
}

void PassedLines::add_returned(const Indices& functions) { conclude(graph_of(functions)); }

// What an activation passed before the place where it is.
void PassedLines::add_frame(const ProgramEvidence::Frame& frame, const std::vector<Ran>& blocks) {
  if (frame.stopped_in.empty()) return;
  const ProgramFlow::Function& flow = functions_.flow().functions[frame.function];
  Graph graph{.blocks = {}, .entries = {0}, .functions = 1, .leaves_ends = false};
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    const bool is_stop = std::ranges::find(frame.stopped_in, block) != frame.stopped_in.end();
    graph.blocks.push_back({.function = frame.function,
                            .index = block,
                            .is_possible = blocks[block] != Ran::no,
                            .is_end = is_stop,
                            .next = flow.blocks[block].successors});
  }
  conclude(graph);
}

void PassedLines::conclude(const Graph& graph) {
  for (const Graph::Block& block : graph.blocks) {
    const FlowFunction& of = functions_.functions()[block.function];
    if (functions_.flow().functions[block.function].calls_setjmp ||
        std::ranges::any_of(of.copies, &FlowRecord::is_optimised_later))
      return;
  }
  // An end is reached, unless what is known contradicts itself.
  if (passes(graph, {})) return;
  const auto of_same = [&](uint32_t entry) {
    return name_of(graph.blocks[entry].function) ==
           name_of(graph.blocks[graph.entries.front()].function);
  };
  if (!std::ranges::all_of(graph.entries, of_same)) return;
  conclude_lines(graph, lines_[name_of(graph.blocks[graph.entries.front()].function)]);
  conclude_calls(graph);
}

void PassedLines::conclude_lines(const Graph& graph, std::set<SourceLine>& lines) {
  const auto& of_entry = functions_.functions()[graph.blocks[graph.entries.front()].function];
  if (graph.functions == 1) return conclude_lines(graph, of_entry, lines);
  std::map<SourceLine, Indices> with_line;
  std::map<uint32_t, std::map<uint32_t, uint32_t>> number_of;  // of blocks, by function and index
  for (uint32_t i = 0; i < graph.blocks.size(); ++i)
    number_of[graph.blocks[i].function].emplace(graph.blocks[i].index, i);
  for (const auto& [function, numbers] : number_of) {
    for (const auto& [block, number] : numbers) {
      for (const LineHere& here : functions_.functions()[function].lines[block]) {
        Indices& blocks = with_line[here.line];
        if (blocks.empty() || blocks.back() != number) blocks.push_back(number);
      }
    }
  }
  for (const auto& [line, blocks] : with_line) {
    if (!lines.contains(line) && passes(graph, blocks)) lines.insert(line);
  }
}

// Of a single function.
void PassedLines::conclude_lines(const Graph& graph, const FlowFunction& function,
                                 std::set<SourceLine>& lines) {
  std::vector<Indices> with_line(function.all_lines.size());
  for (uint32_t i = 0; i < graph.blocks.size(); ++i) {
    for (const LineHere& here : function.lines[graph.blocks[i].index]) {
      Indices& blocks = with_line[here.index];
      if (blocks.empty() || blocks.back() != i) blocks.push_back(i);
    }
  }
  for (size_t i = 0; i < with_line.size(); ++i) {
    // What a single block says is known.
    const SourceLine& line = function.all_lines[i];
    if (with_line[i].size() > 1 && !lines.contains(line) && passes(graph, with_line[i]))
      lines.insert(line);
  }
}

// Calls in blocks that were left at their end have returned.
void PassedLines::conclude_calls(const Graph& graph) {
  struct Calls {
    Indices blocks;
    std::set<uint32_t> callees;
  };
  std::map<Function, Calls> calls;
  for (uint32_t i = 0; i < graph.blocks.size(); ++i) {
    const Graph::Block& at = graph.blocks[i];
    const ProgramFlow::Function& flow = functions_.flow().functions[at.function];
    const ProgramFlow::Block& block = flow.blocks[at.index];
    if (!at.is_possible || at.runs_other_copy) continue;
    // An exception may have left the last one.
    const size_t count = block.calls.size() - (block.may_resume && !block.calls.empty() ? 1 : 0);
    for (size_t number = 0; number < count; ++number) {
      const ProgramFlow::Call& call = block.calls[number];
      if (!call.is_certain() || call.callees.size() != 1) continue;
      Calls& of = calls[name_of(call.callees[0])];
      if (of.blocks.empty() || of.blocks.back() != i) of.blocks.push_back(i);
      of.callees.insert(call.callees[0]);
    }
  }
  for (const auto& [function, of] : calls) {
    if (of.blocks.size() == 1 && graph.functions == 1 && of.callees.size() == 1) continue;
    if (passes(graph, of.blocks)) pending_.emplace_back(of.callees.begin(), of.callees.end());
  }
}

bool PassedLines::passes(const Graph& graph, const Indices& blocks) {
  std::vector<bool> is_seen(graph.blocks.size(), false);
  for (const uint32_t block : blocks)
    is_seen[block] = graph.leaves_ends || !graph.blocks[block].is_end;
  Indices pending;
  const auto add = [&](uint32_t block) {
    if (is_seen[block] || !graph.blocks[block].is_possible) return;
    is_seen[block] = true;
    pending.push_back(block);
  };
  std::ranges::for_each(graph.entries, add);
  while (!pending.empty()) {
    const Graph::Block& block = graph.blocks[pending.back()];
    pending.pop_back();
    const uint64_t steps = 1 + block.next.size();
    if (block.is_end || steps > steps_left_) return false;
    steps_left_ -= steps;
    std::ranges::for_each(block.next, add);
  }
  return true;
}

}  // namespace telltale
