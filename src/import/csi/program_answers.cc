#include "import/csi/program_answers.h"

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "program/demangle.h"

namespace telltale {
namespace {

using csi::FlowRecord;

std::string mechanisms_of(const FlowFunction& function) {
  const auto is_traced = [](const FlowRecord* copy) { return copy->paths_key != 0; };
  return std::ranges::any_of(function.copies, is_traced) ? "PT" : "";
}

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
                 const LinesRan& ran, FunctionAnswers& answers) {
  FunctionCoverage& of = answers.coverage;
  of.ran = any_of(of.ran, blocks.front().ran);
  struct Line {
    Ran ran = Ran::no;
    std::optional<Ran> entered;
  };
  std::vector<Line> all(function.all_lines.size());
  for (size_t block = 0; block < blocks.size(); ++block) {
    const std::vector<LineHere>& lines = function.lines[block];
    for (size_t i = 0; i < lines.size(); ++i) {
      auto& [line_ran, entered] = all[lines[i].index];
      line_ran = any_of(line_ran, ran[block][i]);
      entered = any_of(entered.value_or(Ran::no), blocks[block].ran);
    }
  }
  // Both are in order, and all of these lines are known.
  auto known = of.lines.begin();
  CoveredLines entered;
  for (size_t i = 0; i < all.size(); ++i) {
    const SourceLine& line = function.all_lines[i];
    while (known->first != line) ++known;
    known->second = any_of(known->second, all[i].ran);
    if (all[i].entered) entered.try_emplace(line, *all[i].entered);
  }
  add_copies(answers.entered, entered);
}

void add_blocks(const FlowFunction& function, const std::vector<BlockAnswer>& blocks,
                FunctionCoverage& coverage) {
  for (size_t block = 0; block < blocks.size(); ++block) {
    coverage.blocks.push_back({.id = id_of(function.copies.front()->blocks[block]),
                               .lines = without_repetitions(function.lines[block]),
                               .ran = blocks[block].ran});
  }
}

void add_ran(std::optional<Ran>& known, Ran more) { known = known ? any_of(*known, more) : more; }

// The lines of functions of the source, which come in any order: code of one function may be in
// others. A flat map would move all lines that follow a new one.
using LinesOfSources = std::vector<std::set<uint32_t>>;

// Adds the lines of a function that did not begin to those of the functions of the source that they
// belong to.
void add_source_lines(const FlowFunction& function, std::vector<SourceFunction>& sources,
                      LinesOfSources& lines_of) {
  for (const auto& [scope, owner] : function.owners)
    if (sources[owner.source].line == 0) sources[owner.source].line = owner.line;
  for (const auto* const blocks : {&function.lines, &function.lost_lines}) {
    for (const std::vector<LineHere>& lines : *blocks) {
      for (const LineHere& here : lines) {
        const auto found = function.owners.find(here.scope);
        if (found == function.owners.end()) continue;
        lines_of[found->second.source].insert(here.line.second);
        if (found->second.is_inlined) add_ran(sources[found->second.source].ran, Ran::no);
      }
    }
  }
}

// Adds to `sources` what ran of the functions that were inlined into `function`. What the
// function's own code says is joined elsewhere with what flags say.
void add_source_lines(const FlowFunction& function, const std::vector<BlockAnswer>& blocks,
                      const LinesRan& answered, std::vector<SourceFunction>& sources) {
  const auto inlined_in = [&](uint32_t scope) {
    const auto found = function.owners.find(scope);
    const bool is_inlined = found != function.owners.end() && found->second.is_inlined;
    return is_inlined ? &sources[found->second.source] : nullptr;
  };
  for (size_t block = 0; block < answered.size(); ++block) {
    for (size_t i = 0; i < answered[block].size(); ++i) {
      const Ran ran = answered[block][i];
      const LineHere& here = function.lines[block][i];
      SourceFunction* const owner = ran == Ran::no ? nullptr : inlined_in(here.scope);
      if (owner == nullptr) continue;
      add_copy(owner->lines, here.line.second, ran);
      add_ran(owner->ran, ran);
    }
  }
  for (size_t block = 0; block < function.lost_lines.size(); ++block) {
    if (blocks[block].ran == Ran::no) continue;
    for (const LineHere& lost : function.lost_lines[block])
      if (SourceFunction* const owner = inlined_in(lost.scope)) add_ran(owner->ran, Ran::maybe);
  }
}

// Adds what the function's unit says of it: it may have run where optimisation removed its code.
void add_unseen(const csi::UnitRecord::Lines& function, Ran ran, SourceFunction& source,
                std::set<uint32_t>& lines) {
  add_ran(source.ran, ran);
  if (source.line == 0) source.line = function.line;
  lines.insert(function.lines.begin(), function.lines.end());
}

// A map in which none of the lines ran.
template <typename Line>
boost::container::flat_map<Line, Ran> not_run(const std::set<Line>& lines) {
  boost::container::flat_map<Line, Ran> map;
  map.reserve(lines.size());
  for (const Line& line : lines) map.try_emplace(line, Ran::no);
  return map;
}

}  // namespace

std::optional<uint64_t> id_of(const FlowRecord::Block& block) {
  return block.nodes.empty() ? std::nullopt : std::optional(block.nodes.front());
}

AnswersIfNothingRan::AnswersIfNothingRan(const FlowFunctions& flow,
                                         const std::map<std::string, ModulePaths>& modules) {
  for (const FlowFunction& function : flow.functions())
    groups.try_emplace({function.module, function.symbol, function.file}, 0);
  for (uint32_t number = 0; auto& [key, group] : groups) group = number++;
  functions.resize(groups.size());
  sources.resize(flow.source_count());
  std::vector<std::set<SourceLine>> lines_of_groups(groups.size());
  LinesOfSources lines_of_sources(sources.size());
  for (const FlowFunction& function : flow.functions()) {
    group_of.push_back(groups.at({function.module, function.symbol, function.file}));
    FunctionCoverage& of = functions[group_of.back()];
    of.function = demangle(function.symbol);
    of.linkage_name = function.symbol;
    of.file = function.file;
    of.line = function.line;
    of.module = function.module;
    if (of.mechanisms.empty()) of.mechanisms = mechanisms_of(function);
    of.ran = Ran::no;
    lines_of_groups[group_of.back()].insert(function.all_lines.begin(), function.all_lines.end());
    add_source_lines(function, sources, lines_of_sources);
  }
  for (const auto& each_module : modules) {
    const std::string& module = each_module.first;
    const auto add = [&](const csi::UnitRecord::Lines& each, Ran ran) {
      const uint32_t source = flow.sources().at({module, each.symbol, each.file});
      add_unseen(each, ran, sources[source], lines_of_sources[source]);
    };
    for (const csi::UnitRecord& unit : each_module.second.units) {
      for (const csi::UnitRecord::Lines& each : unit.removed) add(each, Ran::no);
      for (const csi::UnitRecord::Lines& each : unit.vanished) {
        const InternedText file(each.file);
        for (const uint32_t line : each.lines) vanished.emplace(file, line);
        add(each, Ran::maybe);
      }
    }
  }
  for (size_t i = 0; i < functions.size(); ++i) functions[i].lines = not_run(lines_of_groups[i]);
  for (size_t i = 0; i < sources.size(); ++i) sources[i].lines = not_run(lines_of_sources[i]);
}

ProgramAnswers::ProgramAnswers(const FlowFunctions& flow, const AnswersIfNothingRan& if_nothing_ran)
    : sources(if_nothing_ran.sources), flow_(flow), group_of_(if_nothing_ran.group_of) {
  functions.reserve(if_nothing_ran.functions.size());
  for (const FunctionCoverage& function : if_nothing_ran.functions)
    functions.push_back({.coverage = function, .entered = {}});
}

void ProgramAnswers::add(uint32_t f, const std::vector<BlockAnswer>& blocks, Detail detail) {
  const FlowFunction& function = flow_.functions()[f];
  FunctionAnswers& answers = functions[group_of_[f]];
  const LinesRan answered = lines_ran(function, blocks);
  add_answers(function, blocks, answered, answers);
  add_source_lines(function, blocks, answered, sources);
  if (detail == Detail::blocks) add_blocks(function, blocks, answers.coverage);
}

}  // namespace telltale
