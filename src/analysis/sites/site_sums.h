#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/counted_sites.h"

namespace telltale {

// Estimates how often something happened from the number of observations with one in `sparsity`.
// docs/analysis/sampler.md, "Estimates".
struct Estimate {
  double value = 0;
  double margin = 0;  // half the width of the 95 % confidence interval
};
Estimate estimate(uint64_t count, double sparsity);

// Sums over the sites of each scheme, and of each function. A sink of counted sites.
class SiteSums {
 public:
  struct Scheme {
    std::string name;
    uint64_t sites = 0;
    uint64_t observed = 0;
    uint64_t observations = 0;  // sum of all counts, at most 2^64-1; 0 for bounds
  };
  struct Function {
    std::string file;
    std::string name;
    uint64_t sites = 0;
    uint64_t observed = 0;
    uint64_t observations = 0;
  };

  void on(const CountedSite& site);

  [[nodiscard]] std::vector<Scheme> schemes() const;      // by name
  [[nodiscard]] std::vector<Function> functions() const;  // most observations first
  [[nodiscard]] Scheme all() const;                       // without a name

 private:
  std::map<std::string, Scheme, std::less<>> schemes_;
  std::map<std::pair<std::string, std::string>, Function> functions_;  // by file and name
};

}  // namespace telltale
