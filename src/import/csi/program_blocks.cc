#include "import/csi/program_blocks.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "analysis/paths/program_flow.h"
#include "import/csi/flow_functions.h"
#include "import/csi/module_symbols.h"
#include "program/demangle.h"

namespace telltale {
namespace {

using csi::FlowRecord;

// The lines of each block.
std::vector<FunctionCoverage::Block> blocks_of(const FlowRecord& record,
                                               const std::vector<Ran>& ran) {
  std::map<uint32_t, const std::string*> files;
  for (const csi::PathScope& scope : record.scopes) files.emplace(scope.number, &scope.file);
  std::vector<FunctionCoverage::Block> blocks(ran.size());
  for (size_t i = 0; i < ran.size(); ++i) {
    blocks[i].ran = ran[i];
    if (!record.blocks[i].nodes.empty()) blocks[i].id = record.blocks[i].nodes.front();
  }
  for (const auto& [block, scope, line] : record.lines) {
    const auto file = files.find(scope);
    if (file == files.end() || line == 0) continue;
    auto& lines = blocks[block].lines;
    std::pair<std::string, uint32_t> place{*file->second, line};
    if (std::ranges::find(lines, place) == lines.end()) lines.push_back(std::move(place));
  }
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

// Both are right.
void merge(FunctionCoverage&& answers, FunctionCoverage& function) {
  function.ran = agree(function.ran, answers.ran);
  for (const auto& [place, ran] : answers.lines) {
    const auto [known, is_new] = function.lines.try_emplace(place, ran);
    if (!is_new) known->second = agree(known->second, ran);
  }
  function.blocks = std::move(answers.blocks);
}

}  // namespace

void add_program_blocks(const CoreFile& core, const CoreStacks& stacks,
                        const std::map<std::string, ModulePaths>& modules,
                        const std::vector<ThreadPaths>& threads,
                        const std::vector<FlaggedRecord>& flags,
                        std::vector<FunctionCoverage>& functions) {
  if (std::ranges::none_of(modules, [](const auto& each) { return !each.second.flows.empty(); }))
    return;
  const auto symbols = read_module_symbols(stacks, modules, core.order());
  FlowFunctions flow;
  for (const auto& [module, paths] : modules) {
    const auto known = symbols.find(module);
    flow.add_module(module, paths.flows, paths.units,
                    known == symbols.end() ? ModuleSymbols() : known->second);
  }
  FlowEvidence evidence(flow, modules);
  evidence.add_flags(flags);
  evidence.add_stacks(threads);
  const ProgramBlocks ran =
      blocks_of_program(flow.flow(), evidence.take(threads.size() == core.threads().size()));

  using Key = std::tuple<std::string, std::string, std::string>;  // module, symbol, file
  std::map<Key, FunctionCoverage> answers;
  for (size_t f = 0; f < flow.functions().size(); ++f) {
    const FlowFunction& function = flow.functions()[f];
    FunctionCoverage& of = answers[{function.module, function.symbol, function.file}];
    const bool is_first = of.blocks.empty();
    add_answers(blocks_of(*function.copies.front(), ran.functions[f]), is_first, of);
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
}

}  // namespace telltale
