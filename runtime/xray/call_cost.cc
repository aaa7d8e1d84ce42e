#include "call_cost.h"

#include "frequent_functions.h"
#include "record.h"
#include "recorded_calls.h"
#include "state.h"

// Calls the stubs of entry and exit, `pairs` times, as the sleds of a function without a body. No
// function has the greatest id, so that it is never dropped.
extern "C" void telltale_xray_empty_calls(uint64_t pairs) TELLTALE_OURS;
asm(".text\n.p2align 4\n"
    ".globl telltale_xray_empty_calls\n"
    ".hidden telltale_xray_empty_calls\n"
    ".type telltale_xray_empty_calls, @function\n"
    "telltale_xray_empty_calls:\n"
    ".cfi_startproc\n"
    "1:\n"
    "mov $0xfffffff, %r10d\n"
    "call telltale_xray_enter_stub\n"
    "mov $0xfffffff, %r10d\n"
    "call telltale_xray_exit_stub\n"
    "dec %rdi\n"
    "jnz 1b\n"
    "ret\n.cfi_endproc\n"
    ".size telltale_xray_empty_calls, . - telltale_xray_empty_calls\n");

namespace telltale::recorder {
namespace {

static_assert(xray::kMaxFdrFunctionId == 0xfffffff);

constexpr uint32_t kRounds = 10;
constexpr uint32_t kPairs = 40;
// So many that a sparse clock is read twice.
constexpr uint32_t kSparsePairs = 160;
constexpr uint32_t kWords = 2 * kSparsePairs;

struct Cost {  // in thousandths of a tick
  uint64_t inside;
  uint64_t outside;
};

Control scratch = {};
uint64_t words[kWords + 1];

// False: the hooks did something else than they usually do.
bool record_pairs(uint32_t pairs) {
  fill_words(words, state.free_word, kWords + 1);
  auto* const begin = reinterpret_cast<std::byte*>(words);
  scratch.begin = scratch.next = scratch.clock_at = begin;
  scratch.end = scratch.limit = begin + sizeof(words);
  scratch.extents_here = 0;
  scratch.extents = reinterpret_cast<std::byte*>(&scratch.extents_here);
  scratch.free_word = state.free_word;
  scratch.count = 0;
  scratch.cpu = current_cpu();
  scratch.sparse_tick = gap_ticks;
  scratch.kind = ControlKind::measured;
  scratch.last = clock_now();
  Control* const before = thread_state.current;
  thread_state.current = &scratch;
  telltale_xray_empty_calls(pairs);
  thread_state.current = before;
  return scratch.count == 0 && scratch.next == begin + uint64_t{pairs} * 2 * sizeof(words[0]);
}

uint64_t ticks_before(uint32_t event) { return words[event] >> 32; }

// Of the recorded pairs. The first event's time counts from before the first pair.
Cost cost_of_pairs(uint32_t pairs) {
  uint64_t inside = 0;
  uint64_t outside = 0;
  if (state.sparse_interval == 0) {
    for (uint32_t i = 1; i < pairs; ++i) {
      outside += ticks_before(2 * i);
      inside += ticks_before(2 * i + 1);
    }
    return {inside * 1000 / (pairs - 1), outside * 1000 / (pairs - 1)};
  }
  uint64_t ticks = 0;
  uint32_t timed = 0;
  for (uint32_t i = 1; i < 2 * pairs; ++i) {
    ticks += ticks_before(i);
    if (ticks_before(i) != 0) timed = i;
  }
  return timed == 0 ? Cost{0, 0} : Cost{ticks * 1000 / timed, ticks * 1000 / timed};
}

}  // namespace

void measure_call_cost() {
  if (!state.recording || state.options.has_filters()) return;
  if (drops_functions() && begin_recorded_calls() == nullptr) return;
  const uint32_t pairs = state.sparse_interval == 0 ? kPairs : kSparsePairs;
  Cost least_cost = {0, 0};
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (!record_pairs(pairs)) continue;
    const Cost cost = cost_of_pairs(pairs);
    const uint64_t known = least_cost.inside + least_cost.outside;
    if (known == 0 || cost.inside + cost.outside < known) least_cost = cost;
  }
  state.side->cost_inside = static_cast<uint32_t>(least(least_cost.inside, UINT32_MAX));
  state.side->cost_outside = static_cast<uint32_t>(least(least_cost.outside, UINT32_MAX));
}

}  // namespace telltale::recorder
