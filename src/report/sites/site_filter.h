#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/call_filter.h"
#include "model/counted_sites.h"

namespace telltale {

// What verbs ask of counts at sites besides what they ask of any recording.
struct CountsOptions {
  uint64_t sparsity = 0;             // one event in this many was counted; 0: not given
  std::vector<std::string> schemes;  // empty: all
  bool observed = false;             // only sites with a count

  [[nodiscard]] bool any() const { return sparsity != 0 || !schemes.empty() || observed; }
};

// Selects the sites of an answer. Not thread-safe.
class SiteFilter {
 public:
  // Both must outlive it.
  SiteFilter(const CallFilter& filter, const CountsOptions& options)
      : filter_(filter), options_(options) {}
  bool keeps(const CountedSite& site);

 private:
  const CallFilter& filter_;
  const CountsOptions& options_;
  std::string function_;  // last query
  bool kept_ = false;
};

}  // namespace telltale
