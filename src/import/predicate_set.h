#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/isolation/evidence.h"

namespace telltale {

// A predicate in words. Text is as in the program or recording, never trusted. Views are valid as
// long as the PredicateSet.
struct PredicateWords {
  // What it compares, from what tells most about a cause to what tells least. The order of two
  // variables is the last: of two pointers, it is an order of addresses.
  enum class Compares : uint8_t { nothing_or_constant, equality_of_two, order_of_two };
  std::string_view file;  // empty: unknown
  uint64_t line = 0;      // 0: unknown
  std::string_view function;
  std::string_view callee;       // of a call between two functions; else empty
  bool names_functions = false;  // the text is of these names, not of code of the program
  std::string_view scheme;       // kind of predicate
  std::string text;              // "x < 0", "argc > 1 is TRUE"
  Compares compares = Compares::nothing_or_constant;
  // The text with N in place of a number that was found in the data of the runs, such as "x was
  // once > N". Empty: there is no such number.
  std::string text_without_number;
  // Where other builds have the same code: lines other than `line`, of the newest build first.
  std::vector<uint64_t> other_lines;
};

// What a predicate says, wherever it is: file, function, scheme and text. Builds are compared by
// it. A number that was found in the data is no part of it, because it depends on the runs.
using PredicateStatement = std::tuple<std::string, std::string, std::string, std::string>;
inline PredicateStatement statement_of(const PredicateWords& words) {
  return {std::string(words.file), std::string(words.function), std::string(words.scheme),
          words.text_without_number.empty() ? words.text : words.text_without_number};
}

// How the sites of several builds were found to be the same code.
struct BuildMatches {
  uint64_t builds = 0;           // 0: there are not several, and all else is 0
  uint64_t sites_matched = 0;    // in several builds; each counts once
  uint64_t sites_moved = 0;      // of these, on different lines
  uint64_t sites_unmatched = 0;  // in one build only
  uint64_t sites_ambiguous = 0;  // of these, stated a different number of times by other builds
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
  [[nodiscard]] virtual BuildMatches builds() const { return {}; }
  // IsolationOptions::rank.
  [[nodiscard]] unsigned rank(uint32_t predicate) const {
    return static_cast<unsigned>(describe(predicate).compares);
  }
};

}  // namespace telltale
