#include "import/csi/program_blocks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/paths/program_flow.h"
#include "import/csi/module_symbols.h"
#include "program/demangle.h"

namespace telltale {
namespace {

using csi::FlowRecord;

using BlockLines = std::vector<csi::PathFunctionRecord::BlockLine>;

// File and line of the places of each block. `places`: those of the record, or those that are lost.
std::vector<std::vector<std::pair<std::string, uint32_t>>> lines_of(const FlowRecord& record,
                                                                    const BlockLines& places) {
  std::map<uint32_t, const std::string*> files;
  for (const csi::PathScope& scope : record.scopes) files.emplace(scope.number, &scope.file);
  std::vector<std::vector<std::pair<std::string, uint32_t>>> blocks(record.blocks.size());
  for (const auto& [block, scope, line] : places) {
    const auto file = files.find(scope);
    if (file == files.end() || line == 0) continue;
    auto& lines = blocks[block];
    std::pair<std::string, uint32_t> place{*file->second, line};
    if (std::ranges::find(lines, place) == lines.end()) lines.push_back(std::move(place));
  }
  return blocks;
}

std::optional<uint64_t> id_of(const FlowRecord::Block& block) {
  return block.nodes.empty() ? std::nullopt : std::optional(block.nodes.front());
}

std::vector<FunctionCoverage::Block> blocks_of(const FlowRecord& record,
                                               const std::vector<Ran>& ran) {
  auto lines = lines_of(record, record.lines);
  std::vector<FunctionCoverage::Block> blocks(ran.size());
  for (size_t i = 0; i < ran.size(); ++i)
    blocks[i] = {.id = id_of(record.blocks[i]), .lines = std::move(lines[i]), .ran = ran[i]};
  return blocks;
}

std::string mechanisms_of(const FlowFunction& function) {
  const auto is_traced = [](const FlowRecord* copy) { return copy->paths_key != 0; };
  return std::ranges::any_of(function.copies, is_traced) ? "PT" : "";
}

// Joins functions of one name and file, of which the copies have different blocks.
void add_answers(const std::vector<FunctionCoverage::Block>& blocks, bool is_first,
                 FunctionCoverage& answers) {
  const auto join = [is_first](Ran& known, Ran more) {
    known = is_first ? more : any_of(known, more);
  };
  join(answers.ran, blocks.front().ran);
  CoveredLines lines;
  for (const FunctionCoverage::Block& block : blocks) {
    for (const auto& place : block.lines) {
      const auto [known, is_new] = lines.try_emplace(place, block.ran);
      if (!is_new) known->second = any_of(known->second, block.ran);
    }
  }
  for (const auto& [place, ran] : lines) {
    const auto [known, is_new] = answers.lines.try_emplace(place, ran);
    if (!is_new) known->second = any_of(known->second, ran);
  }
  answers.blocks.insert(answers.blocks.end(), blocks.begin(), blocks.end());
}

// Adds lines that may have run though no block with them did to `lost`.
void add_lost_lines(const FlowRecord& record, const std::vector<Ran>& ran,
                    FunctionCoverage& answers, std::set<LinesOfCopies::Line>& lost) {
  const auto lines = lines_of(record, record.lost_lines);
  for (size_t block = 0; block < lines.size(); ++block) {
    for (const auto& place : lines[block]) {
      answers.lines.try_emplace(place, Ran::no);
      if (ran[block] != Ran::no) lost.insert(place);
    }
  }
}

// Module, symbol, file.
using FunctionKey = std::tuple<std::string, std::string, std::string>;

// Where functions were inlined: whether blocks with lines of theirs ran.
void add_inlined(const FlowFunction& function, const FlowRecord& record,
                 const std::vector<Ran>& ran, std::map<FunctionKey, Ran>& inlined) {
  std::map<uint32_t, const csi::PathScope*> scopes;
  for (const csi::PathScope& scope : record.scopes) scopes.emplace(scope.number, &scope);
  for (const auto& [block, scope, line] : record.lines) {
    const auto found = scopes.find(scope);
    if (found == scopes.end() || found->second->function == record.symbol) continue;
    const auto [known, is_new] = inlined.try_emplace(
        {function.module, found->second->function, found->second->file}, ran[block]);
    if (!is_new) known->second = any_of(known->second, ran[block]);
  }
}

// Both are right.
void merge(FunctionCoverage&& answers, FunctionCoverage& function) {
  function.ran = agree(function.ran, answers.ran);
  for (const auto& [place, ran] : answers.lines) {
    const auto [known, is_new] = function.lines.try_emplace(place, ran);
    if (!is_new) known->second = agree(known->second, ran);
  }
  function.blocks = std::move(answers.blocks);
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

}  // namespace

FlowFunctions functions_of(const CoreFile& core, const CoreStacks& stacks,
                           const std::map<std::string, ModulePaths>& modules) {
  const auto symbols = read_module_symbols(stacks, modules, core.order());
  FlowFunctions functions;
  for (const auto& [module, paths] : modules) {
    const auto known = symbols.find(module);
    functions.add_module(module, paths.flows, paths.units,
                         known == symbols.end() ? ModuleSymbols() : known->second);
  }
  return functions;
}

void add_frame_blocks(const CoreFile& core, const CoreStacks& stacks,
                      const std::map<std::string, ModulePaths>& modules,
                      const std::vector<FlaggedRecord>& flags, std::vector<ThreadPaths>& threads) {
  if (!has_flows(modules)) return;
  const FlowFunctions functions = functions_of(core, stacks, modules);
  FlowEvidence evidence(functions, modules);
  evidence.add_flags(flags);
  evidence.add_stacks(threads);
  const ProgramEvidence known = evidence.take(threads.size() == core.threads().size());
  const auto answers = blocks_of_frames(functions.flow(), known);
  for (size_t stack = 0; stack < known.stacks.size(); ++stack) {
    for (size_t at = 0; at < known.stacks[stack].size(); ++at) {
      const ProgramEvidence::Frame& told = known.stacks[stack][at];
      FramePaths& frame = threads[stack].frames[evidence.frame_indices()[stack][at]];
      const FlowRecord& record = record_of(functions.functions()[told.function], frame, modules);
      auto lines = lines_of(record, record.lines);
      for (uint32_t block = 0; block < lines.size(); ++block) {
        const auto& stops = told.stopped_in;
        frame.blocks.push_back(
            {.id = frame.decoded.empty() ? std::nullopt : id_of(record.blocks[block]),
             .lines = std::move(lines[block]),
             .ran = answers[stack][at][block],
             .may_have_stopped = stops.empty() || std::ranges::find(stops, block) != stops.end()});
      }
      const auto lost = lines_of(record, record.lost_lines);
      for (size_t block = 0; block < lost.size(); ++block)
        if (answers[stack][at][block] != Ran::no)
          frame.lost_lines.insert(lost[block].begin(), lost[block].end());
    }
  }
}

std::set<LinesOfCopies::Line> add_program_blocks(const CoreFile& core, const CoreStacks& stacks,
                                                 const std::map<std::string, ModulePaths>& modules,
                                                 const std::vector<ThreadPaths>& threads,
                                                 const std::vector<FlaggedRecord>& flags,
                                                 std::vector<FunctionCoverage>& functions) {
  if (!has_flows(modules)) return {};
  const FlowFunctions flow = functions_of(core, stacks, modules);
  FlowEvidence evidence(flow, modules);
  evidence.add_flags(flags);
  evidence.add_stacks(threads);
  const ProgramBlocks ran =
      blocks_of_program(flow.flow(), evidence.take(threads.size() == core.threads().size()));

  std::map<FunctionKey, FunctionCoverage> answers;
  std::map<FunctionKey, Ran> inlined;
  LinesOfCopies lines;
  std::set<LinesOfCopies::Line> uncertain;
  for (size_t f = 0; f < flow.functions().size(); ++f) {
    const FlowFunction& function = flow.functions()[f];
    FunctionCoverage& of = answers[{function.module, function.symbol, function.file}];
    const bool is_first = of.blocks.empty();
    lines.add(*function.copies.front(), ran.functions[f]);
    add_answers(blocks_of(*function.copies.front(), ran.functions[f]), is_first, of);
    add_lost_lines(*function.copies.front(), ran.functions[f], of, uncertain);
    add_inlined(function, *function.copies.front(), ran.functions[f], inlined);
    of.function = demangle(function.symbol);
    of.linkage_name = function.symbol;
    of.file = function.file;
    of.line = function.line;
    of.module = function.module;
    if (of.mechanisms.empty()) of.mechanisms = mechanisms_of(function);
  }
  for (FunctionCoverage& function : functions) {
    const auto found = answers.find({function.module, function.linkage_name, function.file});
    if (found == answers.end()) continue;
    merge(std::move(found->second), function);
    answers.erase(found);
  }
  for (auto& [key, function] : answers) functions.push_back(std::move(function));
  for (FunctionCoverage& function : functions) {
    const auto found = inlined.find({function.module, function.linkage_name, function.file});
    if (found != inlined.end()) function.ran = any_of(function.ran, found->second);
  }
  uncertain.merge(lines.uncertain());
  return uncertain;
}

}  // namespace telltale
