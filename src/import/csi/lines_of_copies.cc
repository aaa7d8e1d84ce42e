#include "import/csi/lines_of_copies.h"

namespace telltale {

void LinesOfCopies::add(const csi::FlowRecord& record, const std::vector<Ran>& ran) {
  struct Copy {
    std::set<uint32_t> lines;
    std::set<uint32_t> lost;
    bool may_have_run = false;
  };
  std::map<uint32_t, Copy> copies;  // by scope
  for (const auto& [block, scope, line, calls] : record.lines) {
    if (line == 0) continue;
    Copy& copy = copies[scope];
    copy.lines.insert(line);
    copy.may_have_run = copy.may_have_run || ran[block] != Ran::no;
  }
  for (const auto& [block, scope, line, calls] : record.lost_lines)
    if (line != 0) copies[scope].lost.insert(line);
  // A copy without any line.
  for (const csi::FlowRecord::Gone& gone : record.gone) {
    if (ran[gone.block] != Ran::no) ++functions_[{gone.file, gone.symbol}].may_have_run;
  }
  for (const csi::PathScope& scope : record.scopes) {
    const auto copy = copies.find(scope.number);
    if (copy == copies.end()) continue;
    Copies& of_function = functions_[{scope.file, scope.function}];
    const uint64_t count = copy->second.may_have_run ? 1 : 0;
    of_function.may_have_run += count;
    for (const uint32_t line : copy->second.lines) of_function.with_line[line] += count;
    for (const uint32_t line : copy->second.lost) of_function.losing_line[line] += count;
  }
}

void LinesOfCopies::add_removed(const csi::UnitRecord::Lines& function) {
  Copies& copies = functions_[{function.file, function.symbol}];
  for (const uint32_t line : function.lines) copies.losing_line.try_emplace(line, 0);
}

std::set<LinesOfCopies::Line> LinesOfCopies::uncertain() const {
  std::set<Line> found;
  for (const auto& [function, copies] : functions_) {
    for (const auto& [line, count] : copies.with_line)
      if (count < copies.may_have_run) found.emplace(function.first, line);
    // Copies that have lost such a line tell themselves whether it may have run.
    for (const auto& [line, count] : copies.losing_line) {
      if (count < copies.may_have_run && !copies.with_line.contains(line))
        found.emplace(function.first, line);
    }
  }
  return found;
}

}  // namespace telltale
