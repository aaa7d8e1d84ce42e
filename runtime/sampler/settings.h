// Settings from environment variables.
#pragma once

#include <stdint.h>

#include "abi.h"
#include "formats/sampler/sampling_wish.h"
#include "geometric.h"

namespace telltale::sampler {

struct Settings {
  double sparsity = 0;          // 0: no sampling
  char sparsity_text[32] = {};  // as given; may be truncated
  // For each stage (UnitDescriptor::countdowns), the distances between observed regions and between
  // sampled calls. With sparsity s and one sampled call in t, one region in s / t of these calls is
  // observed: one in s of all.
  Geometric regions[kStages];
  Geometric calls[kStages];
  uint32_t last_stage = 0;  // 0: all calls are sampled
  // -fsampler-adaptive: how many executions of each place are observed at first; 0 none.
  uint8_t first_executions = kFirstExecutions;
  // How many of a function's first calls run checked code for that; 0 if no unit wants it. Not less
  // than the calls before the last stage.
  uint32_t first_calls = 0;
  bool has_seed = false;
  uint64_t seed = 0;
  const int32_t* countdowns = nullptr;  // -fsampler-random=offline: kCountdowns of them
  uint32_t random = 0;                  // which generator; the first unit decides
};

// Writes to standard error what is wrong with `value`.
void warn(const char* what, const char* value);
// Reads the variables once, when the first unit registers, and removes them from the environment,
// so that children do not inherit them.
void read_settings();
// Call before read_settings(): this copy of the runtime does not report to the spool.
void leave_out_spool();
// The settings; null before read_settings(), since ifunc resolvers run before libc is initialised.
// Any thread may call it.
const Settings* settings();
// Sets the sparsity, 1 or more, and all that depends on it.
void set_sparsity(Settings& settings, double sparsity);
// Call when a unit with -fsampler-adaptive registers: sets Settings::first_calls.
void observe_first_calls();
// Sets Settings::random for the first unit that registers; later calls have no effect.
void choose_random(uint32_t random);
// SAMPLER_VERBOSE: says for the first unit that samples, and for the first that does not, what is
// observed.
void log_first_unit(const UnitDescriptor& unit);

}  // namespace telltale::sampler
