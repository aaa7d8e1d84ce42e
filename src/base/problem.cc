#include "base/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace telltale {

std::string to_string(const Problem& problem) {
  if (problem.kind == Problem::Kind::estimate) return problem.message;
  std::string text;
  if (!problem.file.empty()) text += problem.file + ": ";
  if (problem.kind == Problem::Kind::names) return text + problem.message;
  text += fmt::format("{}{}at byte {}: {}", problem.record, problem.record.empty() ? "" : " ",
                      problem.offset, problem.message);
  if (problem.lost_bytes != 0)
    text += fmt::format(" ({} {} lost)", problem.lost_bytes,
                        problem.lost_bytes == 1 ? "byte" : "bytes");
  return text;
}

void ProblemLog::add(Problem problem) {
  ++count_;
  if (is_damage(problem.kind)) ++damage_;
  lost_bytes_ += problem.lost_bytes;
  kept_.push_back(std::move(problem));
  if (kept_.size() >= 2 * keep_) trim(keep_);
}

void ProblemLog::merge(const ProblemLog& other) {
  count_ += other.count_;
  damage_ += other.damage_;
  lost_bytes_ += other.lost_bytes_;
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  trim(keep_);
}

std::vector<Problem> ProblemLog::kept() const {
  ProblemLog sorted = *this;
  sorted.trim(keep_);
  return std::move(sorted.kept_);
}

void ProblemLog::trim(size_t limit) {
  std::ranges::stable_sort(kept_, [](const Problem& a, const Problem& b) {
    return std::tie(a.file, a.offset, a.record, a.message) <
           std::tie(b.file, b.offset, b.record, b.message);
  });
  if (kept_.size() > limit) kept_.resize(limit);
}

}  // namespace telltale
