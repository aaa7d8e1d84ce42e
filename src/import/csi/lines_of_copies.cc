#include "import/csi/lines_of_copies.h"

#include <algorithm>

namespace telltale {

void LinesOfCopies::add(const csi::FlowRecord& record, const std::vector<Ran>& ran) {
  struct Copy {
    std::set<uint32_t> lines;
    bool may_have_run = false;
  };
  std::map<uint32_t, Copy> copies;  // by scope
  for (const auto& [block, scope, line] : record.lines) {
    if (line == 0) continue;
    Copy& copy = copies[scope];
    copy.lines.insert(line);
    copy.may_have_run = copy.may_have_run || ran[block] != Ran::no;
  }
  for (const csi::PathScope& scope : record.scopes) {
    const auto copy = copies.find(scope.number);
    if (copy == copies.end()) continue;
    Copies& of_function = functions_[{scope.file, scope.function}];
    of_function.lines.insert(copy->second.lines.begin(), copy->second.lines.end());
    if (copy->second.may_have_run)
      of_function.may_have_run.push_back(std::move(copy->second.lines));
  }
}

std::set<LinesOfCopies::Line> LinesOfCopies::uncertain() const {
  std::set<Line> found;
  for (const auto& [function, copies] : functions_) {
    for (const std::set<uint32_t>& copy : copies.may_have_run) {
      if (copy.size() == copies.lines.size()) continue;  // all of them
      for (const uint32_t line : copies.lines)
        if (!copy.contains(line)) found.emplace(function.first, line);
    }
  }
  return found;
}

}  // namespace telltale
