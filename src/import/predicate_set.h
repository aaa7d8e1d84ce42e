#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/isolation/evidence.h"

namespace telltale {

// A predicate in words. Text is as in the program or recording, never trusted. Views are valid as
// long as the PredicateSet.
struct PredicateWords {
  std::string_view file;  // empty: unknown
  uint64_t line = 0;      // 0: unknown
  std::string_view function;
  std::string_view scheme;  // kind of predicate
  std::string text;         // "x < 0", "argc > 1 is TRUE"
};

// The predicates for which runs are evaluated, numbered as in the table.
class PredicateSet {
 public:
  PredicateSet() = default;
  PredicateSet(const PredicateSet&) = delete;
  PredicateSet& operator=(const PredicateSet&) = delete;
  virtual ~PredicateSet() = default;

  [[nodiscard]] virtual const isolation::SiteTable& table() const = 0;
  // REQUIRES: predicate < table().predicate_count().
  [[nodiscard]] virtual PredicateWords describe(uint32_t predicate) const = 0;
};

}  // namespace telltale
