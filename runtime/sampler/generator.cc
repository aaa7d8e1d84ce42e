#include "generator.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "floating_point.h"
#include "formats/sampler/wire.h"
#include "passing.h"
#include "signals.h"
#include "unit.h"

namespace telltale::sampler {
namespace {

// No sampling: this many sites before the question comes up again.
constexpr int32_t kFar = 0x7fffffff;
// Calls of a function that are all looked at, so that functions that are called seldom, and may run
// for long, are seen in every run.
constexpr uint32_t kCallsBeforeTurns = 64;

uint64_t random_seed() {
  uint64_t seed = 0;
  const int kept = errno;
  const int file = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (::read(file, &seed, sizeof(seed)) < 0) seed = static_cast<uint64_t>(::getpid());
    ::close(file);
  }
  errno = kept;
  return seed;
}

// With a seed, each child of fork draws other countdowns than its parent and its siblings, and the
// same in each run.
uint64_t lineage = 0;
uint32_t children = 0;

Generator process_generator;
thread_local Generator thread_generator __attribute__((tls_model("initial-exec")));

uint64_t pair(int32_t countdown, bool fires) {
  return (fires ? uint64_t{1} << 32 : 0) | static_cast<uint32_t>(countdown);
}

uint64_t next(int32_t countdown, Generator& generator, Counting counting = Counting::kAll) {
  const Settings& asked = settings();
  if (countdown < kUnset / 2) {
    const int32_t first = generator.draw(asked, counting);
    if (first == 0) return pair(kFar, false);
    // Sites have passed since.
    countdown += first - kUnset;
    if (countdown > 0) return pair(countdown, false);
  }
  const int32_t following = generator.draw(asked, counting);
  return following == 0 ? pair(kFar, false) : pair(following, true);
}

// Of regions 0 more may pass where of sites the next but none is due.
uint32_t next_region(int32_t& countdown, Generator& generator, Counting counting = Counting::kAll) {
  const uint64_t answer =
      next(countdown < kUnset / 2 ? countdown : countdown + 1, generator, counting);
  countdown = static_cast<int32_t>(answer & UINT32_MAX) - 1;
  return static_cast<uint32_t>(answer >> 32);
}

// Of a turn that is to be drawn anew, once the calls before turns are over.
constexpr uint32_t kAnew = kCallsBeforeTurns + 1;

uint32_t next_turn(FunctionTurn& turn, Generator& generator) {
  enum : uint32_t { kGoesBy, kAsks, kAsksDensely };
  const Settings& asked = settings();
  turn.left = kFar;
  if (asked.sparsity < 1) return kGoesBy;
  turn.left = 0;
  if (calls_per_turn(asked) <= 1) return kAsks;
  const bool is_early = turn.calls < kCallsBeforeTurns;
  if (is_early && ++turn.calls < kCallsBeforeTurns) return kAsks;
  turn.left = generator.draw(asked, Counting::kTurns) - 1;
  if (turn.calls == kAnew) {
    turn.calls = kCallsBeforeTurns;
    // Of the calls that were drawn this is the first.
    if (--turn.left >= 0) return kGoesBy;
    turn.left = generator.draw(asked, Counting::kTurns) - 1;
  }
  return is_early ? kAsks : kAsksDensely;
}

}  // namespace

double calls_per_turn(const Settings& settings) {
  constexpr double kMost = 128;
  // One region in eight at the most: an observation costs as much as some dozen questions.
  const double calls = settings.sparsity / 8;
  return calls < 1 ? 1 : calls < kMost ? calls : kMost;
}

void Generator::start(const Settings& settings) {
  started_ = true;
  slot_ = 0;
  for (Drawn& drawn : drawn_) drawn.left = 0;
  state_ = begin_uniform(settings.has_seed ? settings.seed ^ lineage : random_seed());
}

int32_t Generator::draw(const Settings& settings, Counting counting) {
  if (!started_) start(settings);
  if (settings.random == kOffline) {
    if (settings.countdowns == nullptr) return 0;
    const int32_t value = settings.countdowns[slot_];
    slot_ = (slot_ + 1) % kCountdowns;
    return value < 1 ? 1 : value;
  }
  if (settings.sparsity < 1) return 0;
  if (settings.random == kFixed) {
    constexpr double kMost = 0x3fffffff;
    return static_cast<int32_t>(settings.sparsity < kMost ? settings.sparsity : kMost);
  }
  if (settings.sparsity == 1) return 1;  // the logarithm of 0 sets errno
  Drawn& drawn = drawn_[static_cast<uint32_t>(counting)];
  if (drawn.left == 0) {
    const double calls = calls_per_turn(settings);
    draw_some(counting == Counting::kAll     ? settings.sparsity
              : counting == Counting::kDense ? settings.sparsity / calls
                                             : calls,
              drawn);
  }
  return drawn.numbers[--drawn.left];
}

// Some at once, as putting the processor's floating point in order takes longer than a logarithm.
void Generator::draw_some(double sparsity, Drawn& drawn) {
  const FloatingPoint unchanged;
  const double passing = log_of_passing(sparsity);
  for (uint32_t left = kDrawnAtOnce; left > 0; --left)
    drawn.numbers[left - 1] = draw_countdown(state_, passing);
  drawn.left = kDrawnAtOnce;
}

void draw_turn_again(FunctionTurn& turn) {
  if (turn.calls < kCallsBeforeTurns) return;
  turn = {0, kAnew};
}

void number_child() { __atomic_add_fetch(&children, 1, __ATOMIC_RELAXED); }

void restart_generators() {
  lineage = begin_uniform(lineage + children) << 16;
  children = 0;
  process_generator.forget();
  thread_generator.forget();
  telltale_sampler_countdown = kUnset;
  telltale_sampler_countdown_r = kUnset;
  telltale_sampler_regions_r = kUnset;
}

}  // namespace telltale::sampler

__attribute__((visibility("default"))) int32_t telltale_sampler_countdown =
    telltale::sampler::kUnset;
__attribute__((visibility("default"))) thread_local int32_t telltale_sampler_countdown_r =
    telltale::sampler::kUnset;
__attribute__((visibility("default"))) thread_local int32_t telltale_sampler_regions_r =
    telltale::sampler::kUnset;

__attribute__((visibility("default"))) uint64_t telltale_sampler_next(int32_t countdown) {
  return telltale::sampler::next(countdown, telltale::sampler::process_generator);
}

__attribute__((visibility("default"))) uint64_t telltale_sampler_next_r(int32_t countdown) {
  if (countdown < telltale::sampler::kUnset / 2) telltale::sampler::give_signal_stack();
  return telltale::sampler::next(countdown, telltale::sampler::thread_generator);
}

__attribute__((visibility("default"))) int32_t telltale_sampler_pass_v1(int32_t countdown,
                                                                        uint32_t units) {
  return telltale::sampler::pass_units(countdown, units, telltale_sampler_next, [](uint32_t) {});
}

__attribute__((visibility("default"))) int32_t telltale_sampler_pass_r_v1(int32_t countdown,
                                                                          uint32_t units) {
  return telltale::sampler::pass_units(countdown, units, telltale_sampler_next_r, [](uint32_t) {});
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_region_due_v1(telltale::sampler::Countdown* countdown) {
  using namespace telltale::sampler;
  return next_region(countdown->left, process_generator,
                     countdown->is_dense != 0 ? Counting::kDense : Counting::kAll);
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_turn_v1(telltale::sampler::FunctionTurn* turn) {
  return telltale::sampler::next_turn(*turn, telltale::sampler::process_generator);
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_region_due_r_v1(int32_t* countdown) {
  if (*countdown < telltale::sampler::kUnset / 2) telltale::sampler::give_signal_stack();
  return telltale::sampler::next_region(*countdown, telltale::sampler::thread_generator);
}
