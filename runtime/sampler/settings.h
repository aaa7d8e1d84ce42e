// What the environment asks for.
#pragma once

#include <stdint.h>

#include "abi.h"
#include "geometric.h"

namespace telltale::sampler {

struct Settings {
  double sparsity = 0;          // 0: no sampling
  char sparsity_text[32] = {};  // as it was given, or as much of it
  // By stage (Unit::countdowns): distances between the regions that are observed and between the
  // calls that have their turn. With sparsity s and turns for one call in t, one region in s / t of
  // such calls is observed: one in s, as of all others.
  Geometric regions[kStages];
  Geometric calls[kStages];
  uint32_t last_stage = 0;  // 0: every call is asked about
  bool has_seed = false;
  uint64_t seed = 0;
  const int32_t* countdowns = nullptr;  // -fsampler-random=offline: kCountdowns of them
  uint32_t random = 0;                  // which generator; the first unit decides
};

// Tells standard error what is wrong with `value`.
void warn(const char* what, const char* value);
// Reads the environment, the first time, and takes the variables out of it, so that children do
// not inherit them. From the first unit's registration on.
void read_settings();
// Any thread, any time; null before: the resolver of an ifunc runs when libc is not there yet.
const Settings* settings();
// Sets the sparsity, 1 or more, and what follows from it.
void set_sparsity(Settings& settings, double sparsity);
void choose_random(uint32_t random);
// To who is verbose, of the first unit that samples and of the first that does not: what is
// observed in it.
void log_first_unit(const UnitDescriptor& unit);

}  // namespace telltale::sampler
