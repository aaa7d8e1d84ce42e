#include "import/csi/lines_of_copies.h"

#include <algorithm>
#include <map>
#include <utility>

namespace telltale {
namespace {

// Ascending, each once.
void make_unique(std::vector<uint32_t>& numbers) {
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
}

// How many of the copies that may have run have each line; 0: only others.
using Counts = std::map<uint32_t, uint64_t>;

void count(const std::vector<uint32_t>& lines, bool may_have_run, Counts& counts) {
  for (const uint32_t line : lines) counts[line] += may_have_run ? 1 : 0;
}

}  // namespace

uint32_t LinesOfCopies::number_of(const std::string& file, const std::string& symbol) {
  const auto number = static_cast<uint32_t>(functions_.size());
  const auto [known, is_new] = numbers_.try_emplace({file, symbol}, number);
  if (is_new) functions_.push_back({.file = file, .symbol = symbol});
  return known->second;
}

void LinesOfCopies::add(const csi::FlowRecord& record) {
  std::map<uint32_t, Copy> copies;  // by scope
  for (const auto& [block, scope, line, calls] : record.lines) {
    if (line == 0) continue;
    copies[scope].lines.push_back(line);
    copies[scope].blocks.push_back(block);
  }
  for (const auto& [block, scope, line, calls] : record.lost_lines)
    if (line != 0) copies[scope].lost.push_back(line);
  for (auto& [scope, copy] : copies) {
    copy.record = records_;
    make_unique(copy.lines);
    make_unique(copy.lost);
    make_unique(copy.blocks);
  }
  for (const csi::PathScope& scope : record.scopes) {
    const auto copy = copies.find(scope.number);
    if (copy == copies.end()) continue;
    functions_[number_of(scope.file, scope.function)].copies.push_back(copy->second);
  }
  ++records_;
}

void LinesOfCopies::add_removed(const csi::UnitRecord::Lines& function) {
  Copy copy{.lost = function.lines};
  make_unique(copy.lost);
  functions_[number_of(function.file, function.symbol)].copies.push_back(std::move(copy));
}

SourceLineSet LinesOfCopies::uncertain(const std::vector<std::vector<Ran>>& ran,
                                       const GoneFunctions::Names& gone) const {
  SourceLineSet found;
  std::vector<bool> may_have_run;  // by copy
  for (const Function& function : functions_) {
    uint64_t ran_at_most = gone.contains({function.file.str(), function.symbol}) ? 1 : 0;
    may_have_run.clear();
    for (const Copy& copy : function.copies) {
      may_have_run.push_back(std::ranges::any_of(
          copy.blocks, [&](uint32_t block) { return ran[copy.record][block] != Ran::no; }));
      ran_at_most += may_have_run.back() ? 1 : 0;
    }
    // Most functions of a program did not run.
    if (ran_at_most == 0) continue;
    Counts with_line;
    Counts losing_line;
    for (size_t i = 0; i < function.copies.size(); ++i) {
      count(function.copies[i].lines, may_have_run[i], with_line);
      count(function.copies[i].lost, may_have_run[i], losing_line);
    }
    for (const auto& [line, copies] : with_line)
      if (copies < ran_at_most) found.emplace(function.file, line);
    // Copies that have lost such a line tell themselves whether it may have run.
    for (const auto& [line, copies] : losing_line)
      if (copies < ran_at_most && !with_line.contains(line)) found.emplace(function.file, line);
  }
  return found;
}

}  // namespace telltale
