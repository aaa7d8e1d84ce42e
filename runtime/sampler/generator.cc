#include "generator.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "formats/sampler/wire.h"
#include "leader.h"
#include "registry.h"
#include "signals.h"
#include "skip_sites.h"

namespace telltale::sampler {
namespace {

// The countdown when nothing is sampled.
constexpr int32_t kNever = 0x7fffffff;

// Without random numbers of the kernel, as in some sandboxes: what differs between programs
// (AT_RANDOM), threads, and times.
uint64_t seed_without_kernel() {
  uint64_t of_program[2] = {};
  if (const unsigned long bytes = ::getauxval(AT_RANDOM); bytes != 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives an integer.
    ::memcpy(of_program, reinterpret_cast<const void*>(bytes), sizeof(of_program));
  }
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  static uint64_t drawn = 0;
  const uint64_t parts[] = {of_program[0],
                            of_program[1],
                            static_cast<uint64_t>(::getpid()),
                            static_cast<uint64_t>(::syscall(SYS_gettid)),
                            static_cast<uint64_t>(now.tv_sec),
                            static_cast<uint64_t>(now.tv_nsec),
                            __atomic_add_fetch(&drawn, 1, __ATOMIC_RELAXED)};
  uint64_t seed = 0;
  for (const uint64_t part : parts) seed = spread(seed ^ part);
  return seed;
}

// Needs no file: /dev may be missing, and descriptors may be used up.
uint64_t random_seed() {
  uint64_t seed = 0;
  const int kept = errno;
  if (::getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(seed)))
    seed = seed_without_kernel();
  errno = kept;
  return seed;
}

// With a seed, each child of a fork draws other countdowns than its parent and its siblings, and
// the same in each run.
uint64_t lineage = 0;
uint32_t children = 0;
// Which child this thread forks, from 1: several threads may fork at once.
thread_local uint32_t child_number __attribute__((tls_model("initial-exec"))) = 0;
uint32_t threads = 0;

Generator process_generator;
thread_local Generator thread_generator
    __attribute__((tls_model("initial-exec"))){Generator::kBesideOthers};

uint64_t encode_answer(int32_t countdown, bool fires) {
  return (fires ? uint64_t{1} << 32 : 0) | static_cast<uint32_t>(countdown);
}

// `draw` returns the next countdown.
template <typename Draw>
uint64_t next(int32_t countdown, const Draw& draw) {
  const Settings* const asked = settings();
  if (asked == nullptr) return encode_answer(kUnset, false);
  if (countdown < kUnset / 2) {
    const int32_t first = draw(*asked);
    if (first == 0) return encode_answer(kNever, false);
    // Sites were counted since the countdown was unset.
    countdown += first - kUnset;
    if (countdown > 0) return encode_answer(countdown, false);
  }
  const int32_t following = draw(*asked);
  return following == 0 ? encode_answer(kNever, false) : encode_answer(following, true);
}

// A countdown of regions is one less than one of sites: it reaches its end below 0.
template <typename Draw>
uint32_t next_region(int32_t& countdown, const Draw& draw) {
  if (settings() == nullptr) {
    countdown = 0;
    return 0;
  }
  const uint64_t answer = next(countdown < kUnset / 2 ? countdown : countdown + 1, draw);
  countdown = static_cast<int32_t>(answer & UINT32_MAX) - 1;
  return static_cast<uint32_t>(answer >> 32);
}

int32_t draw_in_process(const Settings& settings) {
  return process_generator.draw(settings, settings.regions[0]);
}
int32_t draw_in_thread(const Settings& settings) {
  return thread_generator.draw(settings, settings.regions[0]);
}

// A function's call counter (abi::CallCounter) at a check, when `left` was decremented to -1:
//
//          31   30                              0
//   call  | R | the number of this call, from 0     |
//
// Calls are numbered up to numbered_calls(); all later ones have that number.
// After the check, `left` is the number of calls to skip, and `call` the number of the call at the
// next check. R is kRedraw: a fork forgot the distance that was drawn.
constexpr uint32_t kRedraw = 0x80000000;

// All calls before the last stage, and the first ones.
uint32_t numbered_calls(const Settings& settings) {
  const uint32_t staged = uint32_t{1} << settings.last_stage;
  return settings.first_calls > staged ? settings.first_calls : staged;
}

uint32_t log2_of(uint32_t number) { return 31 - static_cast<uint32_t>(__builtin_clz(number)); }

// Stage k > 0 begins with call 2^(k-1) - 1; the last one does not end.
uint32_t stage_of(uint32_t call, uint32_t last) {
  const uint32_t stage = log2_of(call + 1) + 1;
  return stage < last ? stage : last;
}

// -fsampler-adaptive: the latest functions with a call that runs checked code only for first
// executions, and how many regions may run in such calls before one of the functions has no more of
// them. Checked code is slower, and a function with that many regions has repeated itself.
constexpr int32_t kFirstRegions = 10000;

class FirstCalls {
 public:
  void note(CallCounter& counter) {
    if (recent_[(next_ - 1) % kRecent] == &counter) return;
    recent_[next_++ % kRecent] = &counter;
  }

  // Ends the first calls of the latest of these functions, most likely the one that runs.
  void end(uint32_t numbered) {
    for (uint32_t back = 1; back <= kRecent; ++back) {
      CallCounter*& function = recent_[(next_ - back) % kRecent];
      if (function == nullptr) continue;
      CallCounter& counter = *function;
      function = nullptr;
      if ((counter.call & ~kRedraw) >= numbered) continue;
      counter.call = numbered | kRedraw;
      return;
    }
  }

  void forget() {
    for (CallCounter*& function : recent_) function = nullptr;
  }

 private:
  static constexpr uint32_t kRecent = 8;
  CallCounter* recent_[kRecent] = {};
  uint32_t next_ = 0;
};

// -fsampler-adaptive: when one to three times as many regions are in the sample as the last time,
// some more executions of each place are observed: the more often a place executes, the more
// rarely. The factor is random, so that each execution may be observed in some run.
uint32_t sampled_regions = 0;
uint32_t next_renewal = 1;

void count_sampled_region(const Generator& generator) {
  const uint32_t count = __atomic_add_fetch(&sampled_regions, 1, __ATOMIC_RELAXED);
  uint32_t due = __atomic_load_n(&next_renewal, __ATOMIC_RELAXED);
  if (count < due) return;
  // Changes nothing about the distances that are drawn.
  const uint64_t part = spread(generator.state()) >> 32;
  const uint64_t following = count + 1 + (count * part >> 31);
  const auto next = static_cast<uint32_t>(following < UINT32_MAX ? following : UINT32_MAX);
  if (__atomic_compare_exchange_n(&next_renewal, &due, next, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    renew_budgets();
}

FirstCalls process_first_calls;
thread_local FirstCalls thread_first_calls __attribute__((tls_model("initial-exec")));

// The next check is `distance` calls away, 1 or more, but not after the first call of the next
// stage, which has another probability.
void set_next_check(CallCounter& counter, uint32_t call, uint32_t stage, const Settings& settings,
                    uint32_t distance) {
  if (stage < settings.last_stage) {
    const uint32_t rest = (uint32_t{1} << stage) - 1 - call;
    if (distance > rest) distance = rest;
    counter.call = call + distance;
  } else {
    counter.call = numbered_calls(settings);
  }
  counter.left = static_cast<int32_t>(distance) - 1;
}

uint32_t next_call_sample(CallCounter& counter, Generator& generator, FirstCalls& first_calls) {
  enum : uint32_t { kSkip, kSample };
  counter.left = 0;
  const Settings* const asked = settings();
  if (asked == nullptr) return kSkip;
  if (asked->sparsity < 1) {
    counter.left = kNever;
    return kSkip;
  }
  const uint32_t last = asked->last_stage;
  if (last == 0) return kSample;
  const uint32_t call = counter.call & ~kRedraw;
  const uint32_t stage = stage_of(call, last);
  if (call < asked->first_calls) {
    // The function's first calls all run checked code, for the observation of first executions.
    // Each of them is sampled with the stage's probability.
    const bool is_last = call + 1 == asked->first_calls;
    counter.call = (call + 1) | (is_last ? kRedraw : 0);
    const bool is_sampled = generator.draw(*asked, asked->calls[stage]) == 1;
    if (!is_sampled) first_calls.note(counter);
    return kSample + (is_sampled ? stage : kNeverStage);
  }
  const auto draw = [&] {
    return static_cast<uint32_t>(generator.draw(*asked, asked->calls[stage]));
  };
  // The first call of a stage, and the first after a fork, is sampled with the stage's probability:
  // it is if the distance from the call before it is 1. Any other call that gets here was drawn.
  const bool begins = (counter.call & kRedraw) != 0 || call + 1 == uint32_t{1} << (stage - 1);
  uint32_t distance = draw() - (begins ? 1 : 0);
  const bool is_sampled = !begins || distance == 0;
  if (begins && is_sampled) distance = draw();
  set_next_check(counter, call, stage, *asked, distance);
  return is_sampled ? kSample + stage : kSkip;
}

// Draws the next region of a stage. Those of kNeverStage observe nothing. When they have ended
// often, calls may leave checked code: one call may be most of the run.
uint32_t next_region_of_stage(RegionCountdown& countdown, Generator& generator,
                              FirstCalls& first_calls) {
  if (countdown.stage >= kNeverStage) {
    const Settings* const asked = settings();
    if (countdown.left > kUnset / 2 && asked != nullptr) {
      first_calls.end(numbered_calls(*asked));
      if (countdown.stage < kMayLeaveStage) ++countdown.stage;
    }
    countdown.left = kFirstRegions;
    return 0;
  }
  const uint32_t is_sampled = next_region(countdown.left, [&](const Settings& settings) {
    return generator.draw(settings, settings.regions[countdown.stage]);
  });
  if (is_sampled != 0) count_sampled_region(generator);
  return is_sampled;
}

// A thread that pthread_create did not start, or not for all to see, may have no signal stack.
thread_local bool has_signal_stack __attribute__((tls_model("initial-exec"))) = false;
void install_signal_stack_once() {
  if (has_signal_stack) return;
  has_signal_stack = true;
  install_signal_stack();
}

}  // namespace

void Generator::start(const Settings& settings) {
  started_ = true;
  slot_ = 0;
  state_ = begin_uniform(settings.has_seed ? settings.seed ^ lineage : random_seed());
  if (company_ == kAlone || !settings.has_seed) return;
  const uint32_t earlier = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
  if (earlier != 0) state_ = begin_uniform(state_ + earlier);
}

int32_t Generator::draw(const Settings& settings, const Geometric& distance) {
  if (!started_) start(settings);
  if (settings.random == kOffline) {
    if (settings.countdowns == nullptr) return 0;
    const int32_t value = settings.countdowns[slot_];
    slot_ = (slot_ + 1) % kCountdowns;
    return value < 1 ? 1 : value;
  }
  if (settings.sparsity < 1) return 0;
  if (settings.random == kFixed) return distance.mean();
  uint64_t uniform = 0;
  while (uniform == 0) uniform = next_uniform(state_);
  return distance.of(uniform);
}

void redraw_call_counter(CallCounter& counter) {
  // Nothing was drawn before the first call.
  if (counter.call == 0) return;
  uint32_t call = counter.call & ~kRedraw;
  const Settings* const asked = settings();
  const bool is_number = asked != nullptr && call < numbered_calls(*asked);
  if (is_number && counter.left > 0) call -= static_cast<uint32_t>(counter.left);
  counter = {0, call | kRedraw};
}

void forget_first_calls() {
  process_first_calls.forget();
  thread_first_calls.forget();
}

void count_fork() { child_number = __atomic_add_fetch(&children, 1, __ATOMIC_RELAXED); }

void restart_generators() {
  lineage = begin_uniform(lineage + child_number) << 16;
  children = 0;
  threads = 0;
  sampled_regions = 0;
  next_renewal = 1;
  process_generator.forget();
  thread_generator.forget();
  begin_generators();
}

void begin_generators() {
  telltale_sampler_countdown = kUnset;
  telltale_sampler_countdown_r = kUnset;
  for (RegionCountdown& countdown : telltale_sampler_regions_r) countdown.left = kUnset;
}

}  // namespace telltale::sampler

__attribute__((visibility("default"))) int32_t telltale_sampler_countdown =
    telltale::sampler::kUnset;
__attribute__((visibility("default"))) thread_local int32_t telltale_sampler_countdown_r =
    telltale::sampler::kUnset;
__attribute__((visibility(
    "default"))) thread_local telltale::sampler::ThreadCountdowns telltale_sampler_regions_r = {
    {telltale::sampler::kUnset, 0},
    {telltale::sampler::kUnset, 1},
    {telltale::sampler::kUnset, 2},
    {telltale::sampler::kUnset, 3},
    {telltale::sampler::kUnset, 4},
    {telltale::sampler::kUnset, 5},
    {telltale::sampler::kUnset, telltale::sampler::kNeverStage}};

__attribute__((visibility("default"))) uint64_t telltale_sampler_next(int32_t countdown) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->next(countdown);
  return telltale::sampler::next(countdown, telltale::sampler::draw_in_process);
}

__attribute__((visibility("default"))) uint64_t telltale_sampler_next_r(int32_t countdown) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->next_r(countdown);
  if (countdown < telltale::sampler::kUnset / 2) telltale::sampler::install_signal_stack();
  return telltale::sampler::next(countdown, telltale::sampler::draw_in_thread);
}

__attribute__((visibility("default"))) int32_t telltale_sampler_pass_v1(int32_t countdown,
                                                                        uint32_t units) {
  return telltale::sampler::skip_sites(countdown, units, telltale_sampler_next, [](uint32_t) {});
}

__attribute__((visibility("default"))) int32_t telltale_sampler_pass_r_v1(int32_t countdown,
                                                                          uint32_t units) {
  return telltale::sampler::skip_sites(countdown, units, telltale_sampler_next_r, [](uint32_t) {});
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_region_due_v1(telltale::sampler::RegionCountdown* countdown) {
  using namespace telltale::sampler;
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->region_due(countdown);
  return next_region_of_stage(*countdown, process_generator, process_first_calls);
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_turn_v1(telltale::sampler::CallCounter* counter) {
  if (const auto* const other = telltale::sampler::leader(); other != nullptr)
    return other->turn(counter);
  return telltale::sampler::next_call_sample(*counter, telltale::sampler::process_generator,
                                             telltale::sampler::process_first_calls);
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_region_due_r_v2(telltale::sampler::RegionCountdown* countdown) {
  using namespace telltale::sampler;
  if (const EntryPoints* const other = leader(); other != nullptr)
    return other->region_due_r(countdown);
  install_signal_stack_once();
  return next_region_of_stage(*countdown, thread_generator, thread_first_calls);
}

__attribute__((visibility("default"))) uint32_t
telltale_sampler_turn_r_v1(telltale::sampler::CallCounter* counter) {
  using namespace telltale::sampler;
  if (const EntryPoints* const other = leader(); other != nullptr) return other->turn_r(counter);
  install_signal_stack_once();
  return next_call_sample(*counter, thread_generator, thread_first_calls);
}
