#include "analysis/sites/line_counts.h"

#include <algorithm>
#include <string_view>

#include "model/short_name.h"

namespace telltale {
namespace {

void add_to(uint64_t& sum, uint64_t count) {
  if (__builtin_add_overflow(sum, count, &sum)) sum = UINT64_MAX;
}

}  // namespace

void LineCounts::on_branch(FileCounts& file, const CountedSite& site) {
  const std::string predicate(site.columns[0]);
  // Expansions of a macro, instances of a template: the same predicate again in the same line.
  const uint64_t nth = nth_[{std::string(site.unit), std::string(site.file), site.line,
                             std::string(site.function), predicate}]++;
  Counts& counts = file.branches[{site.line, predicate, nth}];
  add_to(counts.taken_false, site.counts[0]);
  add_to(counts.taken_true, site.counts[1]);
}

void LineCounts::on(const CountedSite& site) {
  const std::string& scheme = site.scheme->name;
  const bool branch = scheme == "branches" && site.counts.size() == 2;
  const bool entry = scheme == "function-entries" && site.counts.size() == 1;
  const bool statement = scheme == "coverage" && site.counts.size() == 1;
  if (site.file.empty() || site.line == 0 || (!branch && !entry && !statement)) return;
  ++used_;
  const auto known = files_.find(site.file);
  FileCounts& file = known == files_.end() ? files_[std::string(site.file)] : known->second;
  uint64_t& line = file.lines[site.line][{std::string(site.unit), std::string(site.function)}];
  line = std::max(line, site.total());
  if (branch) on_branch(file, site);
  if (entry) add_to(file.functions[{site.line, std::string(site.function)}], site.counts[0]);
}

// The count of a line from those of its functions, by unit and name.
uint64_t LineCounts::line_count(
    const std::map<std::pair<std::string, std::string>, uint64_t>& functions) {
  // Instances of a template each execute the line. A lambda's line is also one of the function that
  // it is in: there the larger count is the line's.
  std::map<std::pair<std::string_view, std::string>, uint64_t> templates;
  for (const auto& [key, count] : functions)
    add_to(templates[{key.first, template_name(key.second)}], count);
  std::map<std::string_view, uint64_t> units;
  for (const auto& [key, count] : templates) units[key.first] = std::max(units[key.first], count);
  uint64_t sum = 0;
  for (const auto& [unit, count] : units) add_to(sum, count);
  return sum;
}

std::map<std::string, LineCounts::File> LineCounts::files() const {
  std::map<std::string, File> files;
  for (const auto& [name, counts] : files_) {
    File& file = files[name];
    for (const auto& [line, functions] : counts.lines) file.lines[line] = line_count(functions);
    for (const auto& [key, entered] : counts.functions)
      file.functions.push_back({key.second, key.first, entered});
    for (const auto& [key, branch] : counts.branches) {
      const uint64_t line = std::get<0>(key);
      const bool same_line = !file.branches.empty() && file.branches.back().line == line;
      file.branches.push_back({line, same_line ? file.branches.back().block + 1 : 0,
                               branch.taken_false, branch.taken_true});
    }
  }
  return files;
}

}  // namespace telltale
