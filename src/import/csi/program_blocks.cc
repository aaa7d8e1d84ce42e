#include "import/csi/program_blocks.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/paths/program_flow.h"
#include "base/join_maps.h"
#include "formats/csi/wire.h"
#include "import/csi/block_lines.h"
#include "import/csi/joined_copies.h"
#include "import/csi/passed_lines.h"
#include "import/csi/program_answers.h"

namespace telltale {
namespace {

using csi::FlowRecord;

// By function and block; empty: no frame is in the function.
std::vector<std::vector<Stops>> stops_in(const ProgramFlow& flow, const ProgramEvidence& known,
                                         const std::vector<std::vector<size_t>>& frame_indices,
                                         const std::vector<ThreadPaths>& threads) {
  std::vector<std::vector<Stops>> all(flow.functions.size());
  for (const uint32_t function : known.maybe_on_stack)
    all[function].assign(flow.functions[function].blocks.size(), Stops{.interrupted = true});
  for (size_t stack = 0; stack < known.stacks.size(); ++stack) {
    for (size_t at = 0; at < known.stacks[stack].size(); ++at) {
      const ProgramEvidence::Frame& told = known.stacks[stack][at];
      const auto add = [&](Stops& stops) {
        add_stopped_frame(threads[stack].frames, frame_indices[stack][at], told, stops);
      };
      std::vector<Stops>& of_function = all[told.function];
      of_function.resize(flow.functions[told.function].blocks.size());
      if (told.stopped_in.empty()) std::ranges::for_each(of_function, add);
      for (const uint32_t block : told.stopped_in) add(of_function[block]);
    }
  }
  return all;
}

// Adds lines that may have run though no block with them did to `lost`.
void add_lost_lines(const FlowFunction& function, const std::vector<Ran>& ran,
                    SourceLineSet& lost) {
  for (size_t block = 0; block < function.lost_lines.size(); ++block) {
    if (ran[block] == Ran::no) continue;
    for (const LineHere& here : function.lost_lines[block]) lost.insert(here.line);
  }
}

// Module, symbol, file.
using FunctionKey = std::tuple<std::string, std::string, std::string>;

auto key_of(const FunctionCoverage& function) {
  return std::tie(function.module, function.linkage_name, function.file);
}

// Appends the functions of which only inlined copies are left, or nothing. Adds lines that may have
// run though no block with them did to `uncertain`.
void append_inlined(std::vector<SourceFunction>& sources, const ProgramMetadata& metadata,
                    std::vector<FunctionCoverage>& functions, SourceLineSet& uncertain) {
  std::set<std::pair<std::string, std::string>> generated;
  const FlowFunctions& flow = metadata.functions;
  for (const FlowFunction& function : flow.functions())
    if (function.copies.front()->is_generated) generated.emplace(function.module, function.symbol);
  for (const auto& [key, number] : flow.sources()) {
    SourceFunction& source = sources[number];
    const auto& [module, symbol, file] = key;
    // Without a name: the program's table of names is damaged.
    const bool is_unknown = !source.ran || symbol.empty();
    if (is_unknown || csi::is_of_runtime(symbol) || generated.contains({module, symbol})) continue;
    FunctionCoverage function;
    function.function = metadata.name_of(symbol);
    function.linkage_name = symbol;
    function.file = file;
    function.line = source.line;
    function.module = module;
    function.mechanisms = FunctionCoverage::kOnlyInlined;
    function.ran = *source.ran;
    const InternedText interned(file);
    function.lines.reserve(source.lines.size());
    for (const auto& [line, ran] : source.lines) function.lines.try_emplace({interned, line}, ran);
    function.source_lines = std::move(source.lines);
    // Of a small function, optimisers remove copies that leave nothing to tell that they ran.
    constexpr size_t kSmall = 2;
    if (function.ran == Ran::no && function.source_lines.size() <= kSmall) {
      function.ran = Ran::maybe;
      for (auto& [line, ran] : function.source_lines) {
        ran = Ran::maybe;
        uncertain.emplace(interned, line);
      }
    }
    functions.push_back(std::move(function));
  }
}

// Both are right, but flags tell of whole blocks only: where control did not come to a line of a
// block that ran, or may not have, the answer is that of `answers`.
void merge(FunctionAnswers&& answers, FunctionCoverage& function) {
  function.ran = agree(function.ran, answers.coverage.ran);
  join_maps(function.lines, answers.coverage.lines, [&](auto& known, Ran ran) {
    const auto entered = answers.entered.find(known.first);
    const bool is_of_part = entered != answers.entered.end() && entered->second != ran;
    known.second = is_of_part ? ran : agree(known.second, ran);
  });
  function.blocks = std::move(answers.coverage.blocks);
}

bool has_flows(const std::map<std::string, ModulePaths>& modules) {
  return std::ranges::any_of(modules, [](const auto& each) { return !each.second.flows.empty(); });
}

// The record of the copy that a frame is of; its blocks are those of the other copies.
const FlowRecord& record_of(const FlowFunction& function, const FramePaths& frame,
                            const std::map<std::string, ModulePaths>& modules) {
  const auto module = modules.find(frame.module);
  for (const FlowRecord* const copy : function.copies) {
    if (module == modules.end() || frame.decoded.size() != 1) break;
    const auto graph = module->second.graphs.find(copy->paths_key);
    if (graph != module->second.graphs.end() && graph->second == frame.decoded.front().graph)
      return *copy;
  }
  return *function.copies.front();
}

// What is known of a block in a single activation.
BlockAnswer answer_of_frame(const std::vector<FramePaths>& frames, size_t index,
                            const ProgramEvidence::Frame& told, const ProgramBlocks::Frame& blocks,
                            uint32_t block) {
  BlockAnswer answer{.ran = blocks.blocks[block]};
  const bool may_be_here =
      told.stopped_in.empty() || std::ranges::find(told.stopped_in, block) != told.stopped_in.end();
  answer.progress = {.at_most = std::numeric_limits<uint32_t>::max(), .left = !may_be_here};
  if (!may_be_here) return answer;
  add_stopped_frame(frames, index, told, answer.stops);
  if (told.stopped_in.size() != 1) return answer;
  answer.progress.certainly = static_cast<uint32_t>(told.call.value_or(told.returned));
  if (told.call && blocks.stopped_at_first_pass)
    answer.progress.at_most = static_cast<uint32_t>(*told.call);
  answer.progress.left = !told.times.empty() && told.times[block] > 1;
  return answer;
}

void add_lines(const std::vector<LineHere>& lines, const BlockAnswer& answer,
               FramePaths::Block& block) {
  const std::vector<Ran> ran = lines_ran(lines, answer);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto known = std::ranges::find(block.lines, lines[i].line);
    if (known != block.lines.end()) {
      Ran& its = block.lines_ran[static_cast<size_t>(known - block.lines.begin())];
      its = any_of(its, ran[i]);
      continue;
    }
    block.lines.push_back(lines[i].line);
    block.lines_ran.push_back(ran[i]);
  }
}

void add_lost_lines(const FlowFunction& function, const FlowRecord& record,
                    const std::vector<Ran>& ran, FramePaths& frame) {
  std::set<uint32_t> own;
  for (const csi::PathScope& scope : record.scopes)
    if (is_own(scope, function, record)) own.insert(scope.number);
  const auto lost = lines_of(record, record.lost_lines);
  for (size_t block = 0; block < lost.size(); ++block) {
    for (const LineHere& here : lost[block]) {
      FramePaths::LostLine& line = frame.lost_lines[here.line];
      if (ran[block] != Ran::no) line.ran = Ran::maybe;
      line.is_own = line.is_own || own.contains(here.scope);
    }
  }
}

// A frame without a line, as of a call that the optimiser merged with others, has the line before
// it (place_by_path() in frame_decoder.cc): here the last one of its block that certainly ran. Only
// if the call came to the block once: otherwise its lines may have run earlier.
void place_in_block(FramePaths& frame) {
  if (frame.line != 0 || frame.decoded.size() != 1) return;
  const PathGraph& graph = *frame.decoded.front().graph;
  const PathHistory& history = frame.decoded.front().history;
  if (graph.scopes.empty() || graph.calls_setjmp || !history.complete ||
      history.readings.size() != 1)
    return;
  const PathHistory::Reading& reading = history.readings.front();
  if (reading.completed != 0 || reading.partial.empty()) return;
  const PathGraph::Block& last = graph.blocks[reading.block()];
  const auto block =
      std::ranges::find(frame.blocks, std::optional<uint64_t>(last.id), &FramePaths::Block::id);
  if (block == frame.blocks.end()) return;
  for (const PathGraph::Place& place : last.places) {
    if (place.scope >= graph.scopes.size()) break;
    const SourceLine line(InternedText(graph.scopes[place.scope].file), place.line);
    const auto known = std::ranges::find(block->lines, line);
    if (known == block->lines.end() ||
        block->lines_ran[static_cast<size_t>(known - block->lines.begin())] != Ran::yes)
      break;
    if (place.scope == 0) frame.line = place.line;
  }
  if (!frame.innermost_file.empty() && frame.innermost_line != 0) return;
  frame.innermost_file = frame.file;
  frame.innermost_line = frame.line;
}

}  // namespace

std::optional<FoundEvidence> find_evidence(const CoreFile& core, const ProgramMetadata& metadata,
                                           const std::vector<ThreadPaths>& threads,
                                           const std::vector<FlaggedRecord>& flags) {
  if (!has_flows(metadata.modules)) return std::nullopt;
  FlowEvidence evidence(metadata);
  evidence.add_flags(flags);
  evidence.add_stacks(threads);
  return FoundEvidence{
      .known = evidence.take(core.has_all_threads() && threads.size() == core.threads().size()),
      .frame_indices = evidence.frame_indices()};
}

KnownBlocks blocks_of(const ProgramMetadata& metadata, FoundEvidence evidence) {
  ProgramBlocks ran =
      blocks_of_program(metadata.functions.flow(), metadata.structure, evidence.known);
  return {std::move(evidence), std::move(ran)};
}

void add_frame_blocks(const ProgramMetadata& metadata, const FoundEvidence& evidence,
                      const std::vector<std::vector<ProgramBlocks::Frame>>& ran,
                      std::vector<ThreadPaths>& threads) {
  const auto& modules = metadata.modules;
  const FlowFunctions& functions = metadata.functions;
  const ProgramEvidence& known = evidence.known;
  for (size_t stack = 0; stack < known.stacks.size(); ++stack) {
    for (size_t at = 0; at < known.stacks[stack].size(); ++at) {
      const ProgramEvidence::Frame& told = known.stacks[stack][at];
      std::vector<FramePaths>& frames = threads[stack].frames;
      const size_t index = evidence.frame_indices[stack][at];
      FramePaths& frame = frames[index];
      const FlowRecord& record = record_of(functions.functions()[told.function], frame, modules);
      const auto lines = lines_of(record, record.lines);
      for (uint32_t block = 0; block < lines.size(); ++block) {
        frame.blocks.push_back(
            {.id = frame.decoded.empty() ? std::nullopt : id_of(record.blocks[block]),
             .lines = {},
             .ran = ran[stack][at].blocks[block],
             .lines_ran = {}});
        add_lines(lines[block], answer_of_frame(frames, index, told, ran[stack][at], block),
                  frame.blocks.back());
      }
      add_lost_lines(functions.functions()[told.function], record, ran[stack][at].blocks, frame);
    }
    // Last, because the answers above depend on the lines that neighbouring frames have so far.
    std::ranges::for_each(threads[stack].frames, place_in_block);
  }
}

void add_frame_blocks(const CoreFile& core, const ProgramMetadata& metadata,
                      const std::vector<FlaggedRecord>& flags, std::vector<ThreadPaths>& threads) {
  const auto evidence = find_evidence(core, metadata, threads, flags);
  if (!evidence) return;
  add_frame_blocks(metadata, *evidence,
                   blocks_of_frames(metadata.functions.flow(), metadata.structure, evidence->known),
                   threads);
}

SourceLineSet add_program_blocks(const ProgramMetadata& metadata, const KnownBlocks& known_blocks,
                                 const std::vector<ThreadPaths>& threads, Detail detail,
                                 std::vector<FunctionCoverage>& functions) {
  const FlowFunctions& flow = metadata.functions;
  const auto& [known, frame_indices] = static_cast<const FoundEvidence&>(known_blocks);
  const ProgramBlocks& ran = known_blocks.ran;
  const auto stops = stops_in(flow.flow(), known, frame_indices, threads);

  ProgramAnswers answers(flow, metadata.answers);
  SourceLineSet uncertain = metadata.answers.vanished;
  for (uint32_t f = 0; f < flow.functions().size(); ++f) {
    const bool began =
        std::ranges::any_of(ran.functions[f], [](Ran block) { return block != Ran::no; });
    if (!began && detail == Detail::lines) continue;
    const FlowFunction& function = flow.functions()[f];
    const FlowRecord& record = *function.copies.front();
    std::vector<BlockAnswer> blocks(record.blocks.size());
    for (size_t block = 0; block < blocks.size(); ++block)
      blocks[block] = {ran.functions[f][block], ran.progress[f][block],
                       stops[f].empty() ? Stops() : stops[f][block]};
    answers.add(f, blocks, detail);
    add_lost_lines(function, ran.functions[f], uncertain);
  }
  std::vector<bool> is_merged(answers.functions.size(), false);
  for (FunctionCoverage& function : functions) {
    const auto found = metadata.answers.groups.find(key_of(function));
    if (found == metadata.answers.groups.end() || is_merged[found->second]) continue;
    is_merged[found->second] = true;
    merge(std::move(answers.functions[found->second]), function);
  }
  for (size_t i = 0; i < answers.functions.size(); ++i)
    if (!is_merged[i]) functions.push_back(std::move(answers.functions[i].coverage));
  join_copies(flow, functions);
  const PassedLines passed(flow, known, ran);
  for (FunctionCoverage& function : functions) {
    const auto found = passed.lines().find(key_of(function));
    if (found == passed.lines().end()) continue;
    function.ran = Ran::yes;
    for (const SourceLine& line : found->second) function.lines[line] = Ran::yes;
  }
  for (FunctionCoverage& function : functions) {
    const auto found = flow.sources().find(key_of(function));
    if (found == flow.sources().end()) continue;
    SourceFunction& source = answers.sources[found->second];
    if (source.ran) function.ran = any_of(function.ran, *source.ran);
    function.source_lines = std::move(source.lines);
    source = {};  // it is not left
  }
  append_inlined(answers.sources, metadata, functions, uncertain);
  const GoneFunctions::Names gone = metadata.gone_functions.that_may_have_run(ran.functions);
  for (FunctionCoverage& function : functions) {
    if (function.ran != Ran::no || !gone.contains({function.file, function.linkage_name})) continue;
    function.ran = Ran::maybe;
    for (const auto& [line, answer] : function.lines) uncertain.insert(line);
    for (auto& [line, answer] : function.source_lines)
      if (answer == Ran::no) answer = Ran::maybe;
  }
  uncertain.merge(metadata.lines_of_copies.uncertain(ran.functions, gone));
  return uncertain;
}

}  // namespace telltale
