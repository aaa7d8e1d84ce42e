// sampler::SamplingWish as text.
#pragma once

#include <string>
#include <string_view>

#include "bytes/cursor.h"
#include "formats/sampler/sampling_wish.h"

namespace telltale::collect {

inline sampler::WishText wish_text(std::string_view text) {
  return {text.data(), text.data() + text.size()};
}
inline sampler::WishText wish_text(Bytes text) {
  const char* const begin = reinterpret_cast<const char*>(text.data());
  return {begin, begin + text.size()};
}

// "uniform" or "adaptive:N"; empty: the wish says nothing of rates.
std::string rates_text(const sampler::SamplingWish& wish);
// "SPARSITY" or, in a second line, its rates: releases that know no rates read the first.
std::string to_text(const sampler::SamplingWish& wish);

}  // namespace telltale::collect
