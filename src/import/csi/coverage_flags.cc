#include "import/csi/coverage_flags.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace telltale {
namespace {

using csi::CoverageRecord;

std::optional<bool> flag_of(std::span<const std::optional<bool>> flags, uint32_t probe) {
  return probe < flags.size() ? flags[probe] : std::nullopt;
}

FlagAnswers told_of_function(std::span<const std::optional<bool>> flags) {
  FlagAnswers told;
  const std::optional<bool> flag = flag_of(flags, 0);
  told.ran = !flag ? Ran::maybe : *flag ? Ran::yes : Ran::no;
  return told;
}

FlagAnswers told_of_blocks(const CoverageRecord& record, const LinesOfRecord& lines,
                           std::span<const std::optional<bool>> flags, bool has_begun) {
  FlaggedGraph graph;
  graph.flags_follow_calls = record.mechanism == "CC";
  for (const CoverageRecord::Block& block : record.blocks)
    graph.blocks.push_back({block.successors, flag_of(flags, block.probe), block.may_resume});
  // From level 1 on, a block's first call has its flag.
  for (const CoverageRecord::Call& call : record.calls) {
    auto& flag = graph.blocks[call.block].flag;
    if (!flag) flag = flag_of(flags, call.probe);
  }
  // As if a probe at its start had said so.
  if (has_begun && !graph.flags_follow_calls && !graph.blocks.empty() && !graph.blocks[0].flag)
    graph.blocks[0].flag = true;
  FlagAnswers told;
  const std::vector<Ran> ran = blocks_that_ran(graph);
  const std::vector<Ran> ended = blocks_that_ended(graph, ran);
  told.ran = ran.empty() ? Ran::maybe : ran.front();
  std::vector<std::optional<Ran>> lines_ran(lines.lines.size());
  for (const auto& [block, line] : lines.places)
    lines_ran[line] = lines_ran[line] ? any_of(*lines_ran[line], ran[block]) : ran[block];
  told.lines.reserve(lines_ran.size());
  for (size_t i = 0; i < lines_ran.size(); ++i)
    told.lines.try_emplace(lines.lines[i], lines_ran[i].value_or(Ran::maybe));
  for (const CoverageRecord::Call& call : record.calls) {
    const std::optional<bool> flag = flag_of(flags, call.probe);
    const FlaggedGraph::Block& block = graph.blocks[call.block];
    const Ran returned = flag ? (*flag ? Ran::yes : Ran::no)
                         : ended[call.block] == Ran::yes && (block.flag == true || block.may_resume)
                             ? Ran::maybe
                             : ended[call.block];
    told.calls.push_back({.line = call.line, .callee = call.callee, .returned = returned});
  }
  return told;
}

}  // namespace

LinesOfRecord::LinesOfRecord(const CoverageRecord& record) {
  if (record.mechanism == "FC") return;
  std::map<uint32_t, InternedText> files;  // by scope
  for (const csi::PathScope& scope : record.scopes)
    files.try_emplace(scope.number, scope.file.str());
  const auto for_each = [&](const auto& visit) {
    for (const auto& [block, scope, line, calls] : record.lines) {
      const auto file = files.find(scope);
      if (block < record.blocks.size() && file != files.end() && line != 0)
        visit(block, SourceLine(file->second, line));
    }
  };
  for_each([&](uint32_t /*block*/, const SourceLine& line) { lines.push_back(line); });
  std::ranges::sort(lines);
  const auto repeated = std::ranges::unique(lines);
  lines.erase(repeated.begin(), repeated.end());
  for_each([&](uint32_t block, const SourceLine& line) {
    const auto index = std::ranges::lower_bound(lines, line) - lines.begin();
    places.push_back({.block = block, .line = static_cast<uint32_t>(index)});
  });
}

FlagAnswers answers_of_flags(const CoverageRecord& record, const LinesOfRecord& lines,
                             std::span<const std::optional<bool>> flags, bool has_begun) {
  return record.mechanism == "FC" ? told_of_function(flags)
                                  : told_of_blocks(record, lines, flags, has_begun);
}

}  // namespace telltale
