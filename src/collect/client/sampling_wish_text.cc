#include "collect/client/sampling_wish_text.h"

#include <fmt/format.h>

namespace telltale::collect {

std::string rates_text(const sampler::SamplingWish& wish) {
  if (!wish.has_rates) return {};
  return wish.first == 0 ? "uniform" : fmt::format("adaptive:{}", wish.first);
}

std::string to_text(const sampler::SamplingWish& wish) {
  const std::string rates = rates_text(wish);
  return rates.empty() ? fmt::format("{}", wish.sparsity)
                       : fmt::format("{}\n{}", wish.sparsity, rates);
}

}  // namespace telltale::collect
