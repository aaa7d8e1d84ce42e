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
#include "formats/csi/wire.h"
#include "import/csi/block_lines.h"
#include "import/csi/joined_copies.h"
#include "import/csi/passed_lines.h"

namespace telltale {
namespace {

using csi::FlowRecord;

// By function and block.
std::vector<std::vector<Stops>> stops_in(const ProgramFlow& flow, const ProgramEvidence& known,
                                         const std::vector<std::vector<size_t>>& frame_indices,
                                         const std::vector<ThreadPaths>& threads) {
  std::vector<std::vector<Stops>> all;
  for (const ProgramFlow::Function& function : flow.functions)
    all.emplace_back(function.blocks.size());
  for (const uint32_t function : known.maybe_on_stack)
    std::ranges::fill(all[function], Stops{.interrupted = true});
  for (size_t stack = 0; stack < known.stacks.size(); ++stack) {
    for (size_t at = 0; at < known.stacks[stack].size(); ++at) {
      const ProgramEvidence::Frame& told = known.stacks[stack][at];
      const auto add = [&](Stops& stops) {
        add_stopped_frame(threads[stack].frames, frame_indices[stack][at], told, stops);
      };
      std::vector<Stops>& of_function = all[told.function];
      if (told.stopped_in.empty()) std::ranges::for_each(of_function, add);
      for (const uint32_t block : told.stopped_in) add(of_function[block]);
    }
  }
  return all;
}

std::optional<uint64_t> id_of(const FlowRecord::Block& block) {
  return block.nodes.empty() ? std::nullopt : std::optional(block.nodes.front());
}

std::string mechanisms_of(const FlowFunction& function) {
  const auto is_traced = [](const FlowRecord* copy) { return copy->paths_key != 0; };
  return std::ranges::any_of(function.copies, is_traced) ? "PT" : "";
}

// Answers for functions of one name and file, of which the copies have different blocks.
struct Answers {
  FunctionCoverage coverage;
  CoveredLines entered;  // whether the blocks with a line were entered
  bool is_known = false;
};

// Whether control came to each line of each block.
using LinesRan = std::vector<std::vector<Ran>>;

LinesRan lines_ran(const FlowFunction& function, const std::vector<BlockAnswer>& blocks) {
  LinesRan all;
  all.reserve(blocks.size());
  for (size_t block = 0; block < blocks.size(); ++block)
    all.push_back(lines_ran(function.lines[block], blocks[block]));
  return all;
}

void add_answers(const FlowFunction& function, const std::vector<BlockAnswer>& blocks,
                 const LinesRan& ran, Detail detail, Answers& answers) {
  FunctionCoverage& of = answers.coverage;
  of.ran = answers.is_known ? any_of(of.ran, blocks.front().ran) : blocks.front().ran;
  answers.is_known = true;
  struct Line {
    std::optional<Ran> ran;
    std::optional<Ran> entered;
    bool is_lost = false;
  };
  std::vector<Line> all(function.all_lines.size());
  const auto add = [](std::optional<Ran>& known, Ran more) {
    known = known ? any_of(*known, more) : more;
  };
  for (size_t block = 0; block < blocks.size(); ++block) {
    const std::vector<LineHere>& lines = function.lines[block];
    for (size_t i = 0; i < lines.size(); ++i) {
      add(all[lines[i].index].ran, ran[block][i]);
      add(all[lines[i].index].entered, blocks[block].ran);
    }
    if (detail == Detail::lines) continue;
    of.blocks.push_back({.id = id_of(function.copies.front()->blocks[block]),
                         .lines = without_repetitions(lines),
                         .ran = blocks[block].ran});
  }
  for (const std::vector<LineHere>& lost : function.lost_lines)
    for (const LineHere& here : lost) all[here.index].is_lost = true;
  for (size_t i = 0; i < all.size(); ++i) {
    const SourceLine& line = function.all_lines[i];
    if (all[i].ran) add_copy(of.lines, line, *all[i].ran);
    if (all[i].entered) add_copy(answers.entered, line, *all[i].entered);
    if (all[i].is_lost) of.lines.try_emplace(line, Ran::no);
  }
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

// What copies of functions say of them; `ran` is of those that were inlined.
struct SourceFunction {
  std::optional<Ran> ran;
  std::map<uint32_t, Ran> lines;
  uint32_t line = 0;  // of its declaration; 0: unknown
};

// By number in FlowFunctions.
using SourceFunctions = std::vector<SourceFunction>;

// Adds the lines of a function to those of the functions of the source that they belong to.
void add_source_lines(const FlowFunction& function, const std::vector<Ran>& blocks_ran,
                      const LinesRan& answered, SourceFunctions& sources) {
  for (const auto& [scope, owner] : function.owners)
    if (sources[owner.source].line == 0) sources[owner.source].line = owner.line;
  for (size_t block = 0; block < answered.size(); ++block) {
    const std::vector<LineHere>& lines = function.lines[block];
    const std::vector<Ran>& ran = answered[block];
    for (size_t i = 0; i < ran.size(); ++i) {
      const auto found = function.owners.find(lines[i].scope);
      if (found == function.owners.end()) continue;
      const bool is_inlined = found->second.is_inlined;
      SourceFunction& owner = sources[found->second.source];
      // What its own code says is joined with what flags say.
      add_copy(owner.lines, lines[i].line.second, is_inlined ? ran[i] : Ran::no);
      if (is_inlined) owner.ran = owner.ran ? any_of(*owner.ran, ran[i]) : ran[i];
    }
  }
  for (size_t block = 0; block < function.lost_lines.size(); ++block) {
    for (const LineHere& lost : function.lost_lines[block]) {
      const auto found = function.owners.find(lost.scope);
      if (found == function.owners.end()) continue;
      SourceFunction& owner = sources[found->second.source];
      owner.lines.try_emplace(lost.line.second, Ran::no);
      const Ran ran = blocks_ran[block] == Ran::no ? Ran::no : Ran::maybe;
      if (found->second.is_inlined) owner.ran = owner.ran ? any_of(*owner.ran, ran) : ran;
    }
  }
}

// Adds what the function's unit says of it. Where it is gone, it may have run, too.
void add_unseen(const csi::UnitRecord::Lines& function, Ran ran, SourceFunction& source) {
  source.ran = source.ran ? any_of(*source.ran, ran) : ran;
  if (source.line == 0) source.line = function.line;
  for (const uint32_t line : function.lines) source.lines.try_emplace(line, Ran::no);
}

// Appends the functions of which only inlined copies are left, or nothing. Adds lines that may have
// run though no block with them did to `uncertain`.
void append_inlined(SourceFunctions& sources, const ProgramMetadata& metadata,
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
    for (const auto& [line, ran] : source.lines) function.lines.try_emplace({file, line}, ran);
    function.source_lines = std::move(source.lines);
    // Of a small function, optimisers remove copies that leave nothing to tell that they ran.
    constexpr size_t kSmall = 2;
    if (function.ran == Ran::no && function.source_lines.size() <= kSmall) {
      function.ran = Ran::maybe;
      for (auto& [line, ran] : function.source_lines) {
        ran = Ran::maybe;
        uncertain.emplace(file, line);
      }
    }
    functions.push_back(std::move(function));
  }
}

// Both are right, but flags tell of whole blocks only: where control did not come to a line of a
// block that ran, or may not have, the answer is that of `answers`.
void merge(Answers&& answers, FunctionCoverage& function) {
  function.ran = agree(function.ran, answers.coverage.ran);
  for (const auto& [line, ran] : answers.coverage.lines) {
    const auto entered = answers.entered.find(line);
    const bool is_of_part = entered != answers.entered.end() && entered->second != ran;
    const auto [known, is_new] = function.lines.try_emplace(line, ran);
    if (!is_new) known->second = is_of_part ? ran : agree(known->second, ran);
  }
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
  const auto& modules = metadata.modules;
  const FlowFunctions& flow = metadata.functions;
  const auto& [known, frame_indices] = static_cast<const FoundEvidence&>(known_blocks);
  const ProgramBlocks& ran = known_blocks.ran;
  const auto stops = stops_in(flow.flow(), known, frame_indices, threads);

  std::map<FunctionKey, Answers, std::less<>> answers;
  SourceFunctions sources(flow.source_count());
  std::set<FunctionKey, std::less<>> gone;
  SourceLineSet uncertain;
  for (size_t f = 0; f < flow.functions().size(); ++f) {
    const FlowFunction& function = flow.functions()[f];
    const FlowRecord& record = *function.copies.front();
    std::vector<BlockAnswer> blocks(record.blocks.size());
    for (size_t block = 0; block < blocks.size(); ++block)
      blocks[block] = {ran.functions[f][block], ran.progress[f][block], stops[f][block]};
    Answers& all = answers[{function.module, function.symbol, function.file}];
    const LinesRan answered = lines_ran(function, blocks);
    add_answers(function, blocks, answered, detail, all);
    add_lost_lines(function, ran.functions[f], uncertain);
    add_source_lines(function, ran.functions[f], answered, sources);
    for (const FlowRecord::Gone& each : record.gone)
      if (ran.functions[f][each.block] != Ran::no)
        gone.insert({function.module, each.symbol, each.file});
    FunctionCoverage& of = all.coverage;
    of.function = metadata.name_of(function.symbol);
    of.linkage_name = function.symbol;
    of.file = function.file;
    of.line = function.line;
    of.module = function.module;
    if (of.mechanisms.empty()) of.mechanisms = mechanisms_of(function);
  }
  for (const auto& [module, paths] : modules) {
    for (const csi::UnitRecord& unit : paths.units) {
      for (const csi::UnitRecord::Lines& each : unit.removed) {
        add_unseen(each, Ran::no, sources[flow.sources().at({module, each.symbol, each.file})]);
      }
      for (const csi::UnitRecord::Lines& each : unit.vanished) {
        for (const uint32_t line : each.lines) uncertain.emplace(each.file, line);
        add_unseen(each, Ran::maybe, sources[flow.sources().at({module, each.symbol, each.file})]);
      }
    }
  }
  for (FunctionCoverage& function : functions) {
    const auto found = answers.find(key_of(function));
    if (found == answers.end()) continue;
    merge(std::move(found->second), function);
    answers.erase(found);
  }
  for (auto& [key, each] : answers) functions.push_back(std::move(each.coverage));
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
    SourceFunction& source = sources[found->second];
    if (source.ran) function.ran = any_of(function.ran, *source.ran);
    function.source_lines = std::move(source.lines);
    source = {};  // it is not left
  }
  append_inlined(sources, metadata, functions, uncertain);
  for (FunctionCoverage& function : functions) {
    if (function.ran != Ran::no || !gone.contains(key_of(function))) continue;
    function.ran = Ran::maybe;
    for (const auto& [line, answer] : function.lines) uncertain.insert(line);
    for (auto& [line, answer] : function.source_lines)
      if (answer == Ran::no) answer = Ran::maybe;
  }
  uncertain.merge(metadata.lines_of_copies.uncertain(ran.functions));
  return uncertain;
}

}  // namespace telltale
