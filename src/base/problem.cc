#include "base/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace telltale {

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.file.empty()) text += problem.file + ": ";
  text += fmt::format("{}{}at byte {}: {}", problem.record, problem.record.empty() ? "" : " ", problem.offset,
                      problem.message);
  if (problem.lost_bytes != 0) text += fmt::format(" ({} bytes lost)", problem.lost_bytes);
  return text;
}

void ProblemLog::add(Problem problem) {
  ++count_;
  if (problem.kind != Problem::Kind::oddity) ++damage_;
  lost_bytes_ += problem.lost_bytes;
  if (kept_.size() < keep_) kept_.push_back(std::move(problem));
}

void ProblemLog::merge(const ProblemLog& other) {
  count_ += other.count_;
  damage_ += other.damage_;
  lost_bytes_ += other.lost_bytes_;
  for (const Problem& problem : other.kept_) {
    if (kept_.size() >= keep_) break;
    kept_.push_back(problem);
  }
}

void ProblemLog::sort() {
  std::ranges::stable_sort(kept_, [](const Problem& a, const Problem& b) {
    return std::tie(a.file, a.offset) < std::tie(b.file, b.offset);
  });
}

}  // namespace telltale
