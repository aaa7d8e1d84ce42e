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

// The vocabulary of recordings that have counts and no times: how often each site of a program was
// observed. A source passes its sites to a sink one by one, in the order of the recording.

// A kind of instrumentation, and its counters.
struct SiteScheme {
  std::string name;
  std::vector<std::string> columns;   // names of a site's attributes besides its place
  std::vector<std::string> counters;  // names of the values, in order
  bool bounds = false;                // the values are a smallest and a largest number, not counts
};

// One site and its counts. Views are only valid during the call; text is as in the program, never
// trusted.
struct CountedSite {
  static constexpr size_t kMaxColumns = 5;
  const SiteScheme* scheme = nullptr;
  std::string_view unit;     // compilation unit's signature
  std::string_view program;  // file with the static information; empty: none
  size_t index = 0;          // among the sites of the unit and scheme
  bool reported = true;      // false: the program has the site, the recording does not

  // Empty and 0 without static information.
  std::string_view file;
  uint64_t line = 0;
  std::string_view function;
  std::string_view graph_number;  // in its function
  std::array<std::string_view, kMaxColumns> columns;
  size_t column_count = 0;
  std::string_view text;  // the whole line of static information

  std::span<const uint64_t> counts;  // empty for bounds
  std::string_view minimum;          // bounds, as the program printed them
  std::string_view maximum;
  bool observed = false;  // a count is not 0, or a value was assigned
  // On the process's clock, which ticks at each observation; 0: never, or not recorded.
  uint64_t first_time = 0;
  uint64_t last_time = 0;

  // Sum of the counts, at most 2^64-1: how often the site was observed.
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
