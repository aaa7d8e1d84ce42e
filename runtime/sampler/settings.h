// What the environment asks for.
#pragma once

#include <stdint.h>

namespace telltale::sampler {

struct Settings {
  double sparsity = 0;  // 0: no sampling
  bool has_seed = false;
  uint64_t seed = 0;
  const int32_t* countdowns = nullptr;  // -fsampler-random=offline: kCountdowns of them
  uint32_t random = 0;                  // which generator; the first unit decides
};

// Reads the environment once and takes the variables out of it, so that children do not inherit
// them. Any thread, any time after libc has started.
const Settings& settings();
void choose_random(uint32_t random);

}  // namespace telltale::sampler
