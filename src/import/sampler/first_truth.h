#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/isolation/evidence.h"

namespace telltale {

// When predicates became true, averaged over failing runs (IsolationOptions::first_true). A report
// has times of sites: a predicate's time is known where it was true at every observation of its
// site. Sums are whole numbers, so that they do not depend on their order.
class FirstTruth {
 public:
  struct Observation {
    uint32_t site = 0;
    uint32_t counted = 0;  // a bit for each counter that is not 0
    uint64_t time = 0;     // when it was first observed, by the run's clock; not 0
  };

  // `table` must outlive it.
  explicit FirstTruth(const isolation::SiteTable& table) : table_(&table) {}

  // The observations of one failing run.
  void add_run(std::span<const Observation> observations);
  void merge(const FirstTruth& other);
  // By predicate: from 0 (start of the run) to 1; not a number: unknown. Empty: no run had times.
  [[nodiscard]] std::vector<double> averages() const;

 private:
  const isolation::SiteTable* table_;
  std::vector<uint64_t> sums_;  // by predicate: of times from 0 to 2^30
  std::vector<uint32_t> runs_;  // by predicate: that have one
};

}  // namespace telltale
