#include "analysis/sites/site_sums.h"

#include <cmath>

#include "base/sort_rows.h"

namespace telltale {
namespace {

void add_saturated(uint64_t& sum, uint64_t count) {
  if (__builtin_add_overflow(sum, count, &sum)) sum = UINT64_MAX;
}

template <typename Sums>
void count(Sums& sums, const CountedSite& site) {
  ++sums.sites;
  if (site.observed) ++sums.observed;
  add_saturated(sums.observations, site.total());
}

}  // namespace

Estimate estimate(uint64_t count, double sparsity) {
  constexpr double kTwoSided95 = 1.959963984540054;
  const double seen = static_cast<double>(count);
  if (!(sparsity > 1)) return {seen, 0};
  return {seen * sparsity, kTwoSided95 * sparsity * std::sqrt(seen * (1 - 1 / sparsity))};
}

void SiteSums::on(const CountedSite& site) {
  const auto known = schemes_.find(site.scheme->name);
  Scheme& scheme = known == schemes_.end() ? schemes_[site.scheme->name] : known->second;
  count(scheme, site);
  if (site.function.empty()) return;
  Function& function = functions_[{std::string(site.file), std::string(site.function)}];
  count(function, site);
}

std::vector<SiteSums::Scheme> SiteSums::schemes() const {
  std::vector<Scheme> all;
  for (const auto& [name, scheme] : schemes_) {
    all.push_back(scheme);
    all.back().name = name;
  }
  return all;
}

std::vector<SiteSums::Function> SiteSums::functions() const {
  std::vector<Function> all;
  for (const auto& [key, function] : functions_) {
    all.push_back(function);
    std::tie(all.back().file, all.back().name) = key;
  }
  sort_rows(all, std::greater(), &Function::observations);
  return all;
}

SiteSums::Scheme SiteSums::all() const {
  Scheme all;
  for (const auto& [name, scheme] : schemes_) {
    all.sites += scheme.sites;
    all.observed += scheme.observed;
    add_saturated(all.observations, scheme.observations);
  }
  return all;
}

}  // namespace telltale
