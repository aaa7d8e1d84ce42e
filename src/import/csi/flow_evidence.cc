#include "import/csi/flow_evidence.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/paths/frame_coverage.h"
#include "formats/csi/wire.h"
#include "import/csi/block_lines.h"

namespace telltale {
namespace {

using csi::CoverageRecord;
using csi::FlowRecord;
using Flag = std::optional<bool>;

// Flags of several copies: one is set if any is, and unset if all are.
void join(Flag& flag, Flag more, bool is_first) {
  if (is_first) {
    flag = more;
  } else if (flag == true || more == true) {
    flag = true;
  } else if (!flag || !more) {
    flag.reset();
  }
}

// What one record says of the blocks of its function.
std::vector<ProgramEvidence::BlockFlags> flags_of(const FlaggedRecord& flagged,
                                                  const FlowRecord& flow) {
  const auto flag_of = [&](uint32_t probe) {
    return probe < flagged.flags.size() ? flagged.flags[probe] : Flag();
  };
  std::vector<ProgramEvidence::BlockFlags> blocks(flow.blocks.size());
  if (flagged.record->mechanism == "FC") {
    blocks[0].entered = flag_of(0);
    return blocks;
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks[i].entered = flag_of(flagged.record->blocks[i].probe);
  std::vector<size_t> calls(blocks.size(), 0);
  for (const FlowRecord::Call& call : flow.calls) ++calls[call.block];
  for (const CoverageRecord::Call& call : flagged.record->calls)
    blocks[call.block].returned.push_back(flag_of(call.probe));
  // Coverage counts inline assembly as a call.
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].returned.size() != calls[i]) blocks[i].returned.clear();
  return blocks;
}

void join(std::vector<ProgramEvidence::BlockFlags>& all,
          std::vector<ProgramEvidence::BlockFlags> more) {
  if (all.empty()) {
    all = std::move(more);
    return;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    join(all[i].entered, more[i].entered, false);
    all[i].returned.resize(std::min(all[i].returned.size(), more[i].returned.size()));
    for (size_t call = 0; call < all[i].returned.size(); ++call)
      join(all[i].returned[call], more[i].returned[call], false);
  }
}

// Two mechanisms of the same copies: what either knows.
void add_mechanism(std::vector<ProgramEvidence::BlockFlags>& all,
                   const std::vector<ProgramEvidence::BlockFlags>& more) {
  all.resize(more.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (more[i].entered) all[i].entered = more[i].entered;
    if (!more[i].returned.empty()) all[i].returned = more[i].returned;
  }
}

void forget_unset(std::vector<ProgramEvidence::BlockFlags>& blocks) {
  const auto forget = [](Flag& flag) {
    if (flag == false) flag.reset();
  };
  for (ProgramEvidence::BlockFlags& block : blocks) {
    forget(block.entered);
    std::ranges::for_each(block.returned, forget);
  }
}

}  // namespace

FlowEvidence::FlowEvidence(const ProgramMetadata& metadata)
    : metadata_(metadata), functions_(metadata.functions) {
  evidence_.flags.resize(functions_.functions().size());
}

void FlowEvidence::add_flags(const std::vector<FlaggedRecord>& records) {
  // By function and mechanism: the copies that have records, and what these say.
  struct Known {
    std::set<std::string_view> symbols;
    std::vector<ProgramEvidence::BlockFlags> blocks;
  };
  std::map<std::pair<uint32_t, std::string_view>, Known> known;
  for (const FlaggedRecord& flagged : records) {
    if (!flagged.function) continue;
    Known& of = known[{*flagged.function, flagged.record->mechanism}];
    of.symbols.insert(flagged.record->symbol);
    join(of.blocks, flags_of(flagged, *functions_.functions()[*flagged.function].copies.front()));
  }
  for (auto& [key, of] : known) {
    const FlowFunction& function = functions_.functions()[key.first];
    const bool has_all = std::ranges::all_of(function.copies, [&of](const FlowRecord* copy) {
      return of.symbols.contains(copy->symbol);
    });
    // A variant without flags may have run.
    if (!has_all) forget_unset(of.blocks);
    add_mechanism(evidence_.flags[key.first], of.blocks);
  }
}

// The parts of a coroutine are functions with records of their own, found by their symbol. The cold
// part of a function has a symbol, but no record: the linkage name is the function's.
std::vector<uint32_t> FlowEvidence::functions_named(const FramePaths& frame) const {
  std::vector<uint32_t> named = functions_.find(frame.module, frame.symbol);
  if (named.empty()) named = functions_.find(frame.module, frame.linkage_name);
  std::set<uint32_t> all(named.begin(), named.end());
  for (const uint32_t f : named) {
    const std::set<uint32_t>& folded = functions_.functions()[f].folded_with;
    all.insert(folded.begin(), folded.end());
  }
  return {all.begin(), all.end()};
}

// The function of the position at the frame's place.
std::optional<uint32_t> FlowEvidence::function_at(const FramePaths& frame) const {
  if (!frame.place) return std::nullopt;
  for (const uint32_t f : metadata_.functions_of_records.with_key(frame.place->flow_key)) {
    const auto blocks = functions_.flow().functions[f].blocks.size();
    if (functions_.functions()[f].module == frame.module && frame.place->block < blocks) return f;
  }
  return std::nullopt;
}

// None if several functions are at the frame's address.
std::optional<uint32_t> FlowEvidence::function_of(const FramePaths& frame) const {
  const std::optional<uint32_t> function = function_by_records(frame);
  return function && functions_.functions()[*function].folded_with.empty() ? function
                                                                           : std::nullopt;
}

std::optional<uint32_t> FlowEvidence::function_by_records(const FramePaths& frame) const {
  if (const std::optional<uint32_t> at = function_at(frame)) return at;
  if (frame.decoded.size() == 1) {
    const auto* const traced =
        metadata_.functions_of_records.traced_by(*frame.decoded.front().graph);
    if (traced != nullptr) return traced->function;
  }
  std::vector<uint32_t> named = functions_named(frame);
  if (named.size() > 1 && !frame.file.empty()) {
    std::erase_if(
        named, [&](uint32_t f) { return !functions_.functions()[f].file.ends_with(frame.file); });
  }
  return named.size() == 1 ? std::optional(named[0]) : std::nullopt;
}

std::optional<uint32_t> FlowEvidence::block_of(const PathGraph& graph, uint32_t function,
                                               uint32_t node) const {
  const auto* const traced = metadata_.functions_of_records.traced_by(graph);
  if (traced == nullptr || traced->function != function) return std::nullopt;
  const auto block = traced->blocks.find(graph.blocks[node].id);
  return block == traced->blocks.end() ? std::nullopt : std::optional(block->second);
}

void FlowEvidence::add_paths(const FramePaths& frame, ProgramEvidence::Frame& at) const {
  if (frame.decoded.size() != 1) return;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathGraph& graph = *decoded.graph;
  const PathHistory& history = decoded.history;
  if (decoded.found_by != FramePaths::Decoded::FoundBy::position || history.readings.size() != 1 ||
      !history.contradiction.empty() || graph.calls_setjmp)
    return;
  const PathHistory::Reading& reading = history.readings.front();
  const size_t count = functions_.flow().functions[at.function].blocks.size();
  const auto known = [&](uint32_t node) { return block_of(graph, at.function, node); };
  // Where an edge is split, the function was stopped after the last block of its source.
  for (size_t i = reading.partial.size(); i-- > 0 && at.stopped_in.empty();)
    if (const auto block = known(reading.partial[i])) at.stopped_in = {*block};
  const std::vector<Ran> ran = blocks_of_frame(graph, history);
  std::vector<bool> is_mapped(count, false);
  at.blocks.assign(count, Ran::no);
  for (uint32_t node = 0; node < ran.size(); ++node) {
    const auto block = known(node);
    if (!block) continue;
    at.blocks[*block] = is_mapped[*block] ? any_of(at.blocks[*block], ran[node]) : ran[node];
    is_mapped[*block] = true;
  }
  for (size_t block = 0; block < count; ++block)
    if (!is_mapped[block]) at.blocks[block] = Ran::maybe;
  if (std::ranges::find(is_mapped, true) == is_mapped.end()) at.blocks.clear();
  std::vector<uint32_t> times(count, 0);
  const auto pass = [&](uint32_t node, bool is_left) {
    const auto block = known(node);
    if (!block) return;
    ++times[*block];
    if (is_left) at.left.push_back(*block);
  };
  // Whether a block ran once or more often is all that matters.
  for (const PathHistory::Path& path : std::span(history.completed).first(reading.completed)) {
    for (uint64_t time = 0; time < std::min<uint64_t>(path.times, 2); ++time)
      for (const uint32_t node : path.blocks) pass(node, true);
  }
  for (size_t i = 0; i < reading.partial.size(); ++i)
    pass(reading.partial[i], i + 1 < reading.partial.size());
  const bool is_whole = history.complete && std::ranges::find(is_mapped, false) == is_mapped.end();
  if (is_whole) at.times = std::move(times);
  // The block before a split edge counts as the one that it was stopped in.
  if (!at.stopped_in.empty()) std::erase(at.left, at.stopped_in[0]);
}

std::vector<std::vector<uint32_t>> FlowEvidence::ways_of(const FramePaths& frame,
                                                         uint32_t function) const {
  std::vector<std::vector<uint32_t>> ways;
  if (frame.decoded.size() != 1) return ways;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathHistory& history = decoded.history;
  if (decoded.found_by != FramePaths::Decoded::FoundBy::position ||
      !history.contradiction.empty() || decoded.graph->calls_setjmp)
    return ways;
  for (const PathHistory::Reading& reading : history.readings) {
    std::vector<uint32_t>& way = ways.emplace_back();
    const auto add = [&](uint32_t node) {
      if (const auto block = block_of(*decoded.graph, function, node)) way.push_back(*block);
    };
    // Values from the repetition before come from the same steps, however many there are.
    for (const PathHistory::Path& path : std::span(history.completed).first(reading.completed)) {
      for (uint64_t time = 0; time < std::min<uint64_t>(path.times, 2); ++time)
        std::ranges::for_each(path.blocks, add);
    }
    std::ranges::for_each(reading.partial, add);
    if (way.empty()) return {};
  }
  return ways;
}

std::vector<uint32_t> FlowEvidence::blocks_with_call(uint32_t function, uint32_t line,
                                                     const InnerFrame& inner) const {
  std::set<uint32_t> blocks;
  const bool is_inner_known = inner.function || !inner.library_function.empty();
  for (const FlowRecord* const copy : functions_.functions()[function].copies) {
    std::vector<size_t> numbers(copy->blocks.size(), 0);  // of calls, by block
    for (const FlowRecord::Call& call : copy->calls) {
      const auto& calls = functions_.flow().functions[function].blocks[call.block].calls;
      const ProgramFlow::Call& flow = calls[numbers[call.block]++];
      // A call without a line may be the one, if it can lead to the next frame.
      const bool is_possible =
          call.line == 0 &&
          (!is_inner_known || (may_lead_to(flow, inner.function) &&
                               !(inner.function && csi::is_of_runtime(call.callee))));
      if (call.line == line || is_possible) blocks.insert(call.block);
    }
  }
  return {blocks.begin(), blocks.end()};
}

// Whether the frame of `callee` can follow the call: it is called, or what is called may have
// become a jump to it. No callee: a function of a library.
bool FlowEvidence::may_lead_to(const ProgramFlow::Call& call,
                               std::optional<uint32_t> callee) const {
  if (!call.is_certain()) return true;
  std::vector<uint32_t> called = call.callees;
  for (size_t i = 0; i < called.size(); ++i) {
    if (called[i] == callee) return true;
    for (const ProgramFlow::Block& block : functions_.flow().functions[called[i]].blocks) {
      if (block.calls.empty() || !block.calls.back().may_jump) continue;
      if (!block.calls.back().is_certain()) return true;
      for (const uint32_t next : block.calls.back().callees)
        if (std::ranges::find(called, next) == called.end()) called.push_back(next);
    }
  }
  return false;
}

// The call that the frame is in: the only one on its line after which the next frame can come.
void FlowEvidence::find_call(const FramePaths& frame, const InnerFrame& inner,
                             ProgramEvidence::Frame& at) const {
  if ((!inner.function && inner.library_function.empty()) || frame.interrupted ||
      at.stopped_in.size() != 1)
    return;
  const auto& copies = functions_.functions()[at.function].copies;
  if (copies.size() != 1 || frame.innermost_line == 0) return;
  const auto& calls = functions_.flow().functions[at.function].blocks[at.stopped_in[0]].calls;
  std::optional<size_t> found;
  std::string_view callee;
  bool is_only = true;
  size_t index = 0;
  for (const FlowRecord::Call& call : copies.front()->calls) {
    if (call.block != at.stopped_in[0]) continue;
    const size_t number = index++;
    if (call.line != frame.innermost_line && call.line != 0) continue;
    if (!may_lead_to(calls[number], inner.function)) continue;
    is_only = !found;
    if (found) break;
    found = number;
    callee = call.callee;
  }
  if (!found) return;
  at.returned = *found;
  if (!is_only) return;
  const bool fits = inner.function
                        ? calls[*found].is_known &&
                              calls[*found].callees == std::vector<uint32_t>{*inner.function}
                        : !calls[*found].is_known && callee == inner.library_function;
  if (fits) at.call = found;
}

namespace {

constexpr std::string_view kStackCheck = "__stack_chk_fail";

// The only block that has instructions of the line. None: several have, or none, or it is not
// known.
std::optional<uint32_t> only_block_with_line(const FlowRecord& record, uint32_t line) {
  std::optional<uint32_t> found;
  std::vector<bool> has_lines(record.blocks.size(), false);
  for (const auto& place : record.lines) {
    has_lines[place.block] = true;
    if (place.line != line) continue;
    if (found && found != place.block) return std::nullopt;
    found = place.block;
  }
  const auto has_line = [line](const auto& lost) { return lost.line == line; };
  if (std::ranges::any_of(record.lost_lines, has_line)) return std::nullopt;
  // Code before that of the first block has the function's line.
  if (!found) return line == record.line ? std::optional<uint32_t>(0) : std::nullopt;
  // A block that is only a jump has no lines in the record, but may have that of the block beside.
  for (uint32_t block = 0; block < record.blocks.size(); ++block) {
    for (const uint32_t next : record.blocks[block].successors) {
      if ((block == found && !has_lines[next]) || (next == found && !has_lines[block]))
        return std::nullopt;
    }
  }
  return found;
}

// Whether the C library called exit() because `main` returned: no function of the program is
// between exit() and _start.
bool is_after_main(const std::vector<FramePaths>& frames) {
  const auto end = std::ranges::find(frames, "exit", &FramePaths::linkage_name);
  if (end == frames.end() || frames.back().linkage_name != "_start" ||
      frames.back().module == end->module)
    return false;
  return std::all_of(end, frames.end() - 1,
                     [&](const FramePaths& frame) { return frame.module == end->module; });
}

}  // namespace

// The stack protector's check, which compilers insert before functions end, has no line.
void FlowEvidence::stop_at_end(ProgramEvidence::Frame& at) const {
  const auto& blocks = functions_.flow().functions[at.function].blocks;
  for (uint32_t block = 0; block < blocks.size(); ++block)
    if (blocks[block].successors.empty()) at.stopped_in.push_back(block);
  if (at.stopped_in.size() == 1 && blocks[at.stopped_in[0]].returns)
    at.call = blocks[at.stopped_in[0]].calls.size();
}

// The block of the instruction that a frame without positions was stopped at, where it is certain:
// by the line only in code that is not optimised.
std::optional<uint32_t> FlowEvidence::block_of_instruction(const FramePaths& frame,
                                                           uint32_t function,
                                                           bool has_inlined) const {
  if (functions_.flow().functions[function].blocks.size() == 1) return 0;
  if (has_inlined || frame.line == 0) return std::nullopt;
  std::optional<uint32_t> found;
  for (const FlowRecord* const copy : functions_.functions()[function].copies) {
    // Code of path tracing has lines of other blocks.
    if (!copy->is_unoptimised || copy->paths_key != 0) return std::nullopt;
    const std::optional<uint32_t> block = only_block_with_line(*copy, frame.line);
    if (!block || (found && found != block)) return std::nullopt;
    found = block;
  }
  return found;
}

void FlowEvidence::add_thread(const ThreadPaths& thread) {
  is_after_main_ = is_after_main_ || (thread.cut.empty() && is_after_main(thread.frames));
  ProgramEvidence::Stack stack;
  std::vector<size_t>& indices = frame_indices_.emplace_back();
  if (!thread.cut.empty() || thread.frames.empty() ||
      std::ranges::any_of(thread.frames, &FramePaths::may_lack_caller))
    is_cut_ = true;
  InnerFrame inner;          // the frame before this one
  bool has_inlined = false;  // functions without frames at the place of this frame
  for (const FramePaths& frame : thread.frames) {
    const bool has_paths = !frame.decoded.empty();
    const std::optional<uint32_t> function = function_of(frame);
    if (frame.inlined && !has_paths) {
      // It is part of the function around it, or was inlined by the linker.
      has_inlined = true;
      for (const uint32_t f : functions_named(frame)) evidence_.maybe_on_stack.push_back(f);
      continue;
    }
    if (!function) {
      inner = {};
      for (const uint32_t f : functions_named(frame)) evidence_.maybe_on_stack.push_back(f);
      if (functions_named(frame).empty()) inner.library_function = frame.linkage_name;
      has_inlined = false;
      continue;
    }
    ProgramEvidence::Frame at{.function = *function};
    add_paths(frame, at);
    if (frame.place && function_at(frame)) at.stopped_in = {frame.place->block};
    if (at.stopped_in.empty() && !frame.interrupted && !has_inlined && frame.innermost_line != 0)
      at.stopped_in = blocks_with_call(*function, frame.innermost_line, inner);
    if (at.stopped_in.empty() && !frame.interrupted && inner.library_function == kStackCheck)
      stop_at_end(at);
    const auto index = static_cast<size_t>(&frame - thread.frames.data());
    if (at.stopped_in.empty() && is_interrupted(thread.frames, index)) {
      if (const auto block = block_of_instruction(frame, *function, has_inlined))
        at.stopped_in = {*block};
    }
    find_call(frame, has_inlined ? InnerFrame() : inner, at);
    inner = {.function = at.function, .library_function = {}};
    stack.push_back(std::move(at));
    indices.push_back(index);
    has_inlined = false;
  }
  evidence_.stacks.push_back(std::move(stack));
}

void FlowEvidence::add_stacks(const std::vector<ThreadPaths>& threads) {
  std::ranges::for_each(threads, [&](const ThreadPaths& thread) { add_thread(thread); });
}

ProgramEvidence FlowEvidence::take(bool has_all_stacks) {
  evidence_.calls_return = has_all_stacks && !is_cut_ && functions_.calls_return();
  // pthread_exit() of the last thread calls exit(), too; and a call of exit() may have become a
  // jump, as which it leaves no frame of `main`.
  const auto may_jump = [](const ProgramFlow::Block& block) {
    return !block.calls.empty() && block.calls.back().may_jump &&
           !block.calls.back().runs_other_copy;
  };
  const std::vector<ProgramFlow::Function>& functions = functions_.flow().functions;
  evidence_.start_returned = is_after_main_ && evidence_.calls_return;
  for (uint32_t f = 0; f < functions.size(); ++f) {
    if (!functions[f].is_start) continue;
    for (const uint32_t copy : metadata_.structure.copies.of(f))
      if (std::ranges::any_of(functions[copy].blocks, may_jump)) evidence_.start_returned = false;
  }
  return std::move(evidence_);
}

}  // namespace telltale
