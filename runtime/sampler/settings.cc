#include "settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../descriptors/open_file.h"
#include "abi.h"
#include "floating_point.h"
#include "formats/sampler/sampling_wish.h"
#include "formats/sampler/wire.h"
#include "report.h"
#include "spool.h"
#include "trace.h"
#include "verbose.h"

namespace telltale::sampler {
namespace {

Settings the_settings;
int state = 0;  // 0: not read, 1: being read, 2: read
bool may_spool = true;

const int32_t* map_countdowns(const char* path) {
  const int file = descriptors::open_file(path, O_RDONLY);
  struct stat facts = {};
  if (file < 0 || ::fstat(file, &facts) != 0 ||
      facts.st_size < static_cast<off_t>(kCountdowns * sizeof(int32_t))) {
    if (file >= 0) ::close(file);
    warn("SAMPLER_EVENT_COUNTDOWNS does not name a file of countdowns", path);
    return nullptr;
  }
  void* const memory =
      ::mmap(nullptr, kCountdowns * sizeof(int32_t), PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const int32_t*>(memory);
}

// A program with other rights than its caller (setuid, capabilities) must not obey the caller's
// environment. Null in such a program, as for a variable that is not set.
const char* trusted_variable(const char* name) { return ::secure_getenv(name); }

// Without another place for the report: the spool, sampled as is wished there. Environment
// variables come first, each for itself: `has_rates` is whether there is one for the rates.
int open_spool(bool has_rates) {
  static char pattern[kPathBytes];
  if (!may_spool || !choose_spool(trusted_variable("TELLTALE_COLLECT"), pattern)) return 0;
  const SamplingWish wish = spool_wish();
  if (wish.has_rates && !has_rates) the_settings.first_executions = wish.first;
  if (the_settings.sparsity_text[0] == 0) {
    ::snprintf(the_settings.sparsity_text, sizeof(the_settings.sparsity_text), "%u", wish.sparsity);
    if (wish.sparsity == 0) {
      refuse_spool("the folder of TELLTALE_COLLECT, or the server, asks for no sampling");
      return 0;
    }
    set_sparsity(the_settings, wish.sparsity);
  }
  return open_spooled_report(pattern, the_settings.sparsity_text,
                             the_settings.has_seed ? &the_settings.seed : nullptr);
}

void log_destination(int error) {
  if (!is_verbose()) return;
  if (has_report()) {
    log_line("report: ", report_place());
  } else if (error == 0 && spool_refusal() != nullptr) {
    log_line("report: none; ", spool_refusal());
  } else if (error == 0) {
    log_line(
        "report: none; neither SAMPLER_FILE nor SAMPLER_REPORT_FD is set, and "
        "TELLTALE_COLLECT names no folder for it");
  } else {
    log_line("report: none; it cannot be opened: ", ::strerror(error));
  }
}

// Programs of a script have the same seed, but are to be sampled at different places. What the
// report holds of those before tells them apart, in the same way each time the script runs, and for
// those that run at the same time, their number.
uint64_t seed_after(uint64_t seed, uint64_t bytes, uint32_t number) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  return seed ^ (bytes + (uint64_t{number} << 48)) * kOdd;
}

void read_rates_variable(const char* text) {
  if (!read_rates({text, text + ::strlen(text)}, the_settings.first_executions)) {
    warn("SAMPLER_RATES is neither uniform nor adaptive nor adaptive:N with N from 1 to 255", text);
  }
}

void read_environment() {
  const FloatingPoint unchanged;
  if (const char* const text = trusted_variable("SAMPLER_VERBOSE"); text != nullptr && *text != 0)
    set_verbose();
  if (const char* const text = trusted_variable("SAMPLER_SPARSITY"); text != nullptr) {
    ::memcpy(the_settings.sparsity_text, text,
             ::strnlen(text, sizeof(the_settings.sparsity_text) - 1));
    char* end = nullptr;
    const double sparsity = ::strtod(text, &end);
    if (end == text || *end != 0 || !(sparsity >= 1)) {
      warn("SAMPLER_SPARSITY is not a number of 1 or more; nothing is sampled", text);
    } else {
      set_sparsity(the_settings, sparsity);
    }
  }
  const char* const rates = trusted_variable("SAMPLER_RATES");
  if (rates != nullptr) read_rates_variable(rates);
  if (const char* const text = trusted_variable("SAMPLER_SEED"); text != nullptr) {
    char* end = nullptr;
    the_settings.seed = ::strtoull(text, &end, 0);
    the_settings.has_seed = end != text && *end == 0;
    if (!the_settings.has_seed) warn("SAMPLER_SEED is not an integer; the seed is random", text);
  }
  if (const char* const path = trusted_variable("SAMPLER_EVENT_COUNTDOWNS"); path != nullptr)
    the_settings.countdowns = map_countdowns(path);
  open_trace(trusted_variable("SAMPLER_TRACE"));
  const char* const descriptor = trusted_variable("SAMPLER_REPORT_FD");
  const char* const file = trusted_variable("SAMPLER_FILE");
  const char* const append = trusted_variable("SAMPLER_APPEND");
  if (descriptor != nullptr || file != nullptr) {
    const bool appends = append != nullptr && *append != 0;
    log_destination(open_report(descriptor, file, appends));
    if (appends && the_settings.has_seed) {
      // Before the size: a program that ends in between has its counts in it.
      const uint32_t number = number_among_running();
      the_settings.seed = seed_after(the_settings.seed, report_bytes(), number);
    }
  } else {
    log_destination(open_spool(rates != nullptr));
  }
  const char* const taken[] = {
      "SAMPLER_SPARSITY",         "SAMPLER_RATES",     "SAMPLER_SEED",  "SAMPLER_FILE",
      "SAMPLER_EVENT_COUNTDOWNS", "SAMPLER_REPORT_FD", "SAMPLER_TRACE", "SAMPLER_APPEND"};
  for (const char* const name : taken) ::unsetenv(name);
}

// Whether anything is observed in units that sample, and if not, why.
void log_sampling(const UnitDescriptor& unit) {
  const char* const sparsity = the_settings.sparsity_text;
  if ((unit.flags & kSamples) == 0) {
    log_line("sampling: none; everything is counted (-fno-sample)");
  } else if (the_settings.random == kOffline) {
    log_line(
        the_settings.countdowns != nullptr
            ? "sampling: by the countdowns of SAMPLER_EVENT_COUNTDOWNS"
            : "sampling: off; nothing will be observed: SAMPLER_EVENT_COUNTDOWNS is not set or "
              "names no file of countdowns");
  } else if (the_settings.sparsity == 0) {
    log_line("sampling: off; nothing will be observed: SAMPLER_SPARSITY ",
             *sparsity == 0 ? "is not set" : "is not a number of 1 or more");
  } else {
    log_line(the_settings.random == kFixed ? "sampling: every N-th, N = " : "sampling: one in ",
             sparsity);
    if (unit.budgets != nullptr && the_settings.first_executions > 0)
      log_line("sampling: and first executions", "");
  }
}

}  // namespace

void warn(const char* what, const char* value) {
  const char* const parts[] = {"sampler: ", what, ": ", value, "\n"};
  for (const char* const part : parts) {
    if (::write(STDERR_FILENO, part, ::strlen(part)) < 0) return;
  }
}

void leave_out_spool() { may_spool = false; }

void read_settings() {
  int expected = 0;
  if (!__atomic_compare_exchange_n(&state, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
    return;
  read_environment();
  __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

const Settings* settings() {
  return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 0 ? nullptr : &the_settings;
}

void log_first_unit(const UnitDescriptor& unit) {
  static uint32_t told = 0;  // by kinds of units: those that sample, and the others
  const uint32_t kind = (unit.flags & kSamples) != 0 ? 1 : 2;
  if (!is_verbose() || (told & kind) != 0) return;
  told |= kind;
  log_sampling(unit);
}

// One call of a stage in how many is sampled.
double calls_per_sample(double sparsity, uint32_t stage) {
  if (stage == 0) return 1;
  // At most one region in eight: an observation costs as much as some dozen checks.
  constexpr double kLeast = 8;
  const double calls = sparsity / kLeast;
  if (calls < 1) return 1;
  const uint32_t most = kFirstCallsPerSample << (stage - 1);
  return calls < most ? calls : most;
}

void set_sparsity(Settings& settings, double sparsity) {
  settings.sparsity = sparsity;
  for (uint32_t stage = 0; stage < kStages; ++stage) {
    const double calls = calls_per_sample(sparsity, stage);
    settings.calls[stage] = Geometric(calls);
    settings.regions[stage] = Geometric(sparsity / calls);
  }
  settings.last_stage = 0;
  while (settings.last_stage + 1 < kStages && calls_per_sample(sparsity, settings.last_stage + 1) >
                                                  calls_per_sample(sparsity, settings.last_stage))
    ++settings.last_stage;
}

// As many as are observed of each place by default, rounded up to a power of two.
constexpr uint32_t kFirstCalls = 128;
static_assert(kFirstCalls >= uint32_t{1} << (kStages - 1));

void observe_first_calls() {
  const bool wanted = the_settings.first_executions > 0 && the_settings.sparsity >= 1;
  the_settings.first_calls = wanted ? kFirstCalls : 0;
}

void choose_random(uint32_t random) {
  static bool chosen = false;
  if (chosen) return;
  chosen = true;
  read_settings();
  the_settings.random = random;
}

}  // namespace telltale::sampler
