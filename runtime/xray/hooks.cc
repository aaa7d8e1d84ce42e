#include "hooks.h"

#include "events.h"
#include "filter.h"
#include "frequent_functions.h"
#include "instrument_functions.h"
#include "recorded_calls.h"

namespace telltale::recorder {
namespace {

using xray::FunctionAction;
using Record = void (*)(uint32_t);

template <Record kRecord, FunctionAction kAction>
TELLTALE_HOOK void function_hook(uint32_t function, uint64_t) {
  kRecord(head_of(function, kAction));
}
TELLTALE_HOOK void argument_hook(uint32_t function, uint64_t, uint64_t argument) {
  record_argument(head_of(function, FunctionAction::enter_args), argument);
}
TELLTALE_HOOK void no_function_hook(uint32_t, uint64_t) {}
TELLTALE_HOOK void no_argument_hook(uint32_t, uint64_t, uint64_t) {}

struct Hooks {
  FunctionHook enter = no_function_hook;
  FunctionHook exit = no_function_hook;
  FunctionHook tail = no_function_hook;
  ArgumentHook argument = no_argument_hook;
};
template <Record kRecord>
constexpr Hooks kRecording = {function_hook<kRecord, FunctionAction::enter>,
                              function_hook<kRecord, FunctionAction::exit>,
                              function_hook<kRecord, FunctionAction::tail_exit>, argument_hook};
constexpr Hooks kFiltered = {filtered_enter, filtered_exit, filtered_tail_exit, filtered_argument};

// The hooks of calls that the option `auto` does not leave out.
Hooks kept = {};
struct ThroughKept {
  static TELLTALE_HOT void enter(uint32_t function, uint64_t stack) { kept.enter(function, stack); }
  static TELLTALE_HOT void exit(uint32_t function, uint64_t stack) { kept.exit(function, stack); }
  static TELLTALE_HOT void tail(uint32_t function, uint64_t stack) { kept.tail(function, stack); }
};
// The usual case, without a call.
struct Timed {
  static TELLTALE_HOT void enter(uint32_t function, uint64_t) {
    record_timed(head_of(function, FunctionAction::enter));
  }
  static TELLTALE_HOT void exit(uint32_t function, uint64_t) {
    record_timed(head_of(function, FunctionAction::exit));
  }
  static TELLTALE_HOT void tail(uint32_t function, uint64_t) {
    record_timed(head_of(function, FunctionAction::tail_exit));
  }
};

template <typename Way>
TELLTALE_HOOK void dropping_enter(uint32_t function, uint64_t stack) {
  RecordedCalls* const calls = recorded_calls();
  if (!records_entry(calls, function, stack)) return leave_out(1);
  Way::enter(function, stack);
  if (calls != nullptr) add_call(*calls, function, stack);
}
TELLTALE_HOOK void dropping_argument(uint32_t function, uint64_t stack, uint64_t argument) {
  RecordedCalls* const calls = recorded_calls();
  if (!records_entry(calls, function, stack)) return leave_out(1);
  kept.argument(function, stack, argument);
  if (calls != nullptr) add_call(*calls, function, stack);
}
template <typename Way>
TELLTALE_HOOK __attribute__((noinline)) void undropped_exit(uint32_t function, uint64_t stack) {
  if (!records_exit(recorded_calls(), function, stack)) return leave_out(1);
  Way::exit(function, stack);
}
template <typename Way>
TELLTALE_HOOK __attribute__((noinline)) void undropped_tail_exit(uint32_t function,
                                                                 uint64_t stack) {
  if (!records_exit(recorded_calls(), function, stack)) return leave_out(1);
  Way::tail(function, stack);
}
template <typename Way>
TELLTALE_HOOK void dropping_exit(uint32_t function, uint64_t stack) {
  if (!leaves_out_exit(function, stack)) undropped_exit<Way>(function, stack);
}
template <typename Way>
TELLTALE_HOOK void dropping_tail_exit(uint32_t function, uint64_t stack) {
  if (!leaves_out_exit(function, stack)) undropped_tail_exit<Way>(function, stack);
}
template <typename Way>
constexpr Hooks kDropping = {dropping_enter<Way>, dropping_exit<Way>, dropping_tail_exit<Way>,
                             dropping_argument};

Hooks hooks_without_dropping() {
  if (!state.recording) return {};
  if (state.options.has_filters()) return kFiltered;
  if (state.clock == ClockKind::monotonic) return kRecording<record_monotonic>;
  return state.clock == ClockKind::sparse ? kRecording<record_sparse> : kRecording<record_timed>;
}

bool records_timed() {
  return !state.options.has_filters() && state.clock != ClockKind::monotonic &&
         state.clock != ClockKind::sparse;
}

}  // namespace

extern "C" {
FunctionHook telltale_xray_enter_hook = no_function_hook;
FunctionHook telltale_xray_exit_hook = no_function_hook;
FunctionHook telltale_xray_tail_hook = no_function_hook;
ArgumentHook telltale_xray_argument_hook = no_argument_hook;
TELLTALE_HOOK void telltale_xray_custom_hook(const void* payload, size_t bytes) {
  record_custom(payload, bytes);
}
TELLTALE_HOOK void telltale_xray_typed_hook(size_t type, const void* payload, size_t bytes) {
  record_typed(type, payload, bytes);
}
}

void choose_hooks() {
  Hooks hooks = hooks_without_dropping();
  kept = hooks;
  if (state.recording && drops_functions()) {
    hooks = records_timed() ? kDropping<Timed> : kDropping<ThroughKept>;
  }
  telltale_xray_enter_hook = hooks.enter;
  telltale_xray_exit_hook = hooks.exit;
  telltale_xray_tail_hook = hooks.tail;
  telltale_xray_argument_hook = hooks.argument;
  choose_call_hooks();
}

TELLTALE_HOOK void record_kept_entry(uint32_t function, uint64_t place) {
  kept.enter(function, place);
}
TELLTALE_HOOK void record_kept_exit(uint32_t function, uint64_t place) {
  kept.exit(function, place);
}

}  // namespace telltale::recorder
