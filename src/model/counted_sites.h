#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// The vocabulary of recordings that have counts and no times: how often which site of a program was
// seen. A source tells its sites to a sink one by one, in the order of the recording.

// What is counted at the sites of one kind of instrumentation.
struct SiteScheme {
  std::string name;
  std::vector<std::string> columns;   // what is told of a site besides its place; names
  std::vector<std::string> counters;  // names of the values, in order
  bool bounds = false;                // the values are a smallest and a largest number, not counts
};

// One site with what was counted there. Views are valid during the call only; text is as in the
// program, never trusted.
struct CountedSite {
  static constexpr size_t kMaxColumns = 5;
  const SiteScheme* scheme = nullptr;
  std::string_view unit;     // compilation unit's signature
  std::string_view program;  // file that the static information is from; empty: there is none
  size_t index = 0;          // among the sites of the unit and scheme
  bool reported = true;      // false: the program has the site, the recording nothing of it

  // Empty and 0 without static information.
  std::string_view file;
  uint64_t line = 0;
  std::string_view function;
  std::string_view graph_number;  // in its function
  std::array<std::string_view, kMaxColumns> columns;
  size_t column_count = 0;
  std::string_view text;  // of the static information, whole

  std::span<const uint64_t> counts;  // empty for bounds
  std::string_view minimum;          // bounds, as the program printed them
  std::string_view maximum;
  bool observed = false;  // any of the counts is not 0; a value was assigned
  // Of the process's clock that ticks at each sampled site; 0: never, or not recorded.
  uint64_t first_time = 0;
  uint64_t last_time = 0;

  // Sum of the counts, at most 2^64-1: how often the site was reached while it was watched.
  [[nodiscard]] uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t count : counts) {
      if (__builtin_add_overflow(sum, count, &sum)) return UINT64_MAX;
    }
    return sum;
  }
};

template <typename S>
concept CountedSiteSink = requires(S& sink, const CountedSite& site) { sink.on(site); };

}  // namespace telltale
