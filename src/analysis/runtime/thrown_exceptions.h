#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/runtime_events.h"

namespace telltale {

// Number of thrown exceptions, and of clauses of each kind that ran for them.
// docs/analysis/mono.md, "exception". A part: append() merges pieces in any order.
class ThrownExceptions {
 public:
  static constexpr size_t kClauseKinds = 5;  // as ClauseEvent::Kind; 3 is unused

  void on(const ThrowEvent&) { ++throws_; }
  void on(const ClauseEvent& event) {
    const auto kind = static_cast<size_t>(event.kind);
    if (kind < kClauseKinds) ++clauses_[kind];
  }
  void append(const ThrownExceptions& next) {
    throws_ += next.throws_;
    for (size_t i = 0; i < kClauseKinds; ++i) clauses_[i] += next.clauses_[i];
  }

  [[nodiscard]] uint64_t throws() const { return throws_; }
  [[nodiscard]] uint64_t clauses(ClauseEvent::Kind kind) const {
    return clauses_[static_cast<size_t>(kind)];
  }

 private:
  uint64_t throws_ = 0;
  std::array<uint64_t, kClauseKinds> clauses_{};
};

}  // namespace telltale
