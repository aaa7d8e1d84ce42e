#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/call_filter.h"
#include "model/counted_sites.h"

namespace telltale {

// What verbs ask of counts at sites besides what they ask of any recording.
struct CountsOptions {
  uint64_t sparsity = 0;             // one in so many was counted; 0: the user did not say
  std::vector<std::string> schemes;  // empty: all
  bool observed = false;             // only sites with a count

  [[nodiscard]] bool any() const { return sparsity != 0 || !schemes.empty() || observed; }
};

// Which sites an answer is about. Not thread-safe.
class SiteFilter {
 public:
  // Both must outlive it.
  SiteFilter(const CallFilter& filter, const CountsOptions& options)
      : filter_(filter), options_(options) {}
  bool keeps(const CountedSite& site);

 private:
  const CallFilter& filter_;
  const CountsOptions& options_;
  std::string function_;  // asked last
  bool kept_ = false;
};

}  // namespace telltale
