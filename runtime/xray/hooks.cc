#include "hooks.h"

#include "events.h"
#include "filter.h"
#include "frequent_functions.h"
#include "instrument_functions.h"

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

template <Record kRecord>
void set_hooks() {
  telltale_xray_enter_hook = function_hook<kRecord, FunctionAction::enter>;
  telltale_xray_exit_hook = function_hook<kRecord, FunctionAction::exit>;
  telltale_xray_tail_hook = function_hook<kRecord, FunctionAction::tail_exit>;
  telltale_xray_argument_hook = argument_hook;
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
  if (!state.recording) {
    telltale_xray_enter_hook = telltale_xray_exit_hook = telltale_xray_tail_hook = no_function_hook;
    telltale_xray_argument_hook = no_argument_hook;
  } else if (drops_functions()) {
    telltale_xray_enter_hook = dropping_enter;
    telltale_xray_exit_hook = dropping_exit;
    telltale_xray_tail_hook = dropping_tail_exit;
    telltale_xray_argument_hook = dropping_argument;
  } else if (state.options.has_filters()) {
    telltale_xray_enter_hook = filtered_enter;
    telltale_xray_exit_hook = filtered_exit;
    telltale_xray_tail_hook = filtered_tail_exit;
    telltale_xray_argument_hook = filtered_argument;
  } else if (state.clock == ClockKind::sparse) {
    set_hooks<record_sparse>();
  } else if (state.clock == ClockKind::monotonic) {
    set_hooks<record_monotonic>();
  } else {
    set_hooks<record_timed>();
  }
  choose_call_hooks();
}

}  // namespace telltale::recorder
