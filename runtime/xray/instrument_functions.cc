#include "instrument_functions.h"

#include "begin.h"
#include "filter.h"
#include "frequent_functions.h"
#include "function_ids.h"
#include "hooks.h"
#include "loader.h"
#include "name_patterns.h"
#include "recorded_calls.h"
#include "side_record.h"
#include "syscalls.h"

namespace telltale::recorder {
namespace {

using xray::FunctionAction;

// How calls are recorded: set when recording starts, read at each call.
enum Way : uint32_t { kNotAtAll, kTimed, kSparse, kTimedDropping, kDropping, kOther };

uint32_t way = kNotAtAll;  // a Way; clang's atomics need an integer
FunctionIds ids = {};

__attribute__((noinline, cold)) uint32_t id_of_new(uint64_t address) {
  if (state.fork_mark->alive == 0) begin_from_hook();
  const sys::BlockSignals blocked;
  const uint32_t busy = thread_state.busy;
  thread_state.busy = 1;
  const uint32_t epoch = __atomic_load_n(&state.epoch, __ATOMIC_ACQUIRE);
  const uint32_t id = ids.assign(address, [address] {
    return is_function_chosen(address) ? assign_function_id(address) : FunctionIds::kSkipped;
  });
  // The filters may have changed meanwhile.
  if (__atomic_load_n(&state.epoch, __ATOMIC_ACQUIRE) != epoch)
    ids.choose(address, is_function_chosen(address), false);
  thread_state.busy = busy;
  return id;
}

// A function's first call, or one that is not to be recorded: 0 then.
__attribute__((noinline, cold)) uint32_t id_or_none(uint32_t known, uint64_t address) {
  const uint32_t id = known == FunctionIds::kUnknown ? id_of_new(address) : known;
  if (id == FunctionIds::kUnknown) {
    count_lost(state.side->lost_no_space);
    __atomic_fetch_add(&state.side->unnamed, 1, __ATOMIC_RELAXED);
  }
  return id == FunctionIds::kSkipped ? FunctionIds::kUnknown : id;
}

// With filters, or by a clock that is read elsewhere.
void record_otherwise(uint32_t id, FunctionAction action, uint64_t place, uint64_t address,
                      uint64_t call_site) {
  const bool enters = action == FunctionAction::enter;
  if (state.options.has_filters()) {
    return enters ? filtered_called_enter(id, place, address, call_site)
                  : filtered_called_exit(id, place);
  }
  return enters ? record_kept_entry(id, place) : record_kept_exit(id, place);
}

// Unless the call is left out because its function was dropped.
template <Way kHow>
__attribute__((noinline)) void record_undropped(uint32_t id, FunctionAction action, uint64_t place,
                                                uint64_t address, uint64_t call_site) {
  RecordedCalls* const calls = recorded_calls();
  const bool enters = action == FunctionAction::enter;
  if (!(enters ? records_entry(calls, id, place) : records_called_exit(calls, id))) {
    if (enters) add_dropped_called(calls, id, place);
    return leave_out(1);
  }
  if (kHow == kTimedDropping) {
    record_timed(head_of(id, action));
  } else {
    record_otherwise(id, action, place, address, call_site);
  }
  if (enters && calls != nullptr) add_recorded_called(*calls, id, place);
}

// The cases that the two functions below do not handle.
__attribute__((noinline)) void record_any(uint64_t address, FunctionAction action, uint64_t place,
                                          uint64_t call_site) {
  const uint32_t how = __atomic_load_n(&way, __ATOMIC_RELAXED);
  if (how == kNotAtAll) return;
  uint32_t id = ids.find(address);
  if (id > xray::kMaxFdrFunctionId || id == FunctionIds::kUnknown) {
    id = id_or_none(id, address);
    if (id == FunctionIds::kUnknown) return;
  }
  if (how == kTimed) {
    record_timed(head_of(id, action));
  } else if (how == kSparse) {
    record_sparse_now(head_of(id, action));
  } else if (how == kTimedDropping) {
    record_undropped<kTimedDropping>(id, action, place, address, call_site);
  } else if (how == kDropping) {
    record_undropped<kDropping>(id, action, place, address, call_site);
  } else {
    // Filters need the length of a tick, which is known only when recording has begun.
    if (__builtin_expect(state.fork_mark->alive == 0, 0)) begin_from_hook();
    if (state.recording) record_otherwise(id, action, place, address, call_site);
  }
}

// Timed events of known functions; uses few registers, so that none is saved.
__attribute__((noinline)) void record_with_time(uint64_t address, FunctionAction action,
                                                uint64_t place, uint64_t call_site) {
  const uint32_t how = __atomic_load_n(&way, __ATOMIC_RELAXED);
  uint32_t found = 0;
  if (__builtin_expect((how == kTimed || how == kSparse) && ids.find_first(address, found), 1)) {
    const uint32_t head = found + head_of(0, action);
    if (how == kTimed) {
      record_timed(head);
    } else {
      record_sparse_now(head);
    }
    return;
  }
  if (how == kTimedDropping && ids.find_first(address, found)) {
    if (!leaves_out_called(found >> 4))
      record_undropped<kTimedDropping>(found >> 4, action, place, address, call_site);
    return;
  }
  record_any(address, action, place, call_site);
}

// Untimed events of known functions. A thread's buffer has room for them only while untimed events
// are enabled and the table exists.
__attribute__((always_inline)) inline void record(void* function, FunctionAction action,
                                                  void* place, void* call_site) {
  const auto address = reinterpret_cast<uint64_t>(function);
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  if (__builtin_expect(
          at < control.clock_at && gap_ticks == control.sparse_tick && is_still_next(control, at),
          1)) {
    uint32_t found = 0;
    if (__builtin_expect(ids.find_first(address, found), 1) &&
        record_untimed(control, at, found + head_of(0, action))) {
      return;
    }
  }
  record_with_time(address, action, reinterpret_cast<uint64_t>(place),
                   reinterpret_cast<uint64_t>(call_site));
}

// Only objects built with the option name the hook, with or without a version suffix.
bool calls_hook(const ElfFile& file) {
  constexpr char kHook[] = "__cyg_profile_func_enter";
  bool calls = false;
  file.for_each_function([&](const char* name, uint64_t) {
    size_t same = 0;
    while (kHook[same] != '\0' && name[same] == kHook[same]) ++same;
    calls = calls || kHook[same] == '\0';
  });
  return calls;
}

}  // namespace

void choose_call_hooks() {
  Way chosen = kOther;
  if (!state.recording || !ids.reserve()) {
    chosen = kNotAtAll;
  } else if (!state.options.has_filters() && state.clock != ClockKind::monotonic) {
    chosen = state.clock == ClockKind::sparse ? kSparse : kTimed;
  }
  if (chosen != kNotAtAll && drops_functions())
    chosen = chosen == kTimed ? kTimedDropping : kDropping;
  state.untimed_words = chosen == kSparse ? state.sparse_interval - 1 : 0;
  __atomic_store_n(&way, uint32_t{chosen}, __ATOMIC_RELEASE);
}

bool leave_out_unchosen(const ElfFile& file, uint64_t bias, const char* functions) {
  if (*functions == '\0' || !file.valid() || !ids.reserve() || !calls_hook(file)) return false;
  file.for_each_function([&](const char* name, uint64_t address) {
    if (!is_chosen(functions, name))
      ids.assign(bias + address, [] { return FunctionIds::kSkipped; });
  });
  return true;
}

bool choose_called_functions(const ElfFile& file, uint64_t bias, uint64_t begin, uint64_t end,
                             const char* functions) {
  ids.choose_all(begin, end, *functions == '\0' || *functions == '!');
  if (*functions == '\0' || !file.valid() || !ids.reserve()) return false;
  const bool calls = calls_hook(file);
  // Of several names of a function, one that is excluded excludes it.
  const auto choose = [&](bool chosen) {
    file.for_each_function([&](const char* name, uint64_t address) {
      if (is_chosen(functions, name) == chosen) ids.choose(bias + address, chosen, calls);
    });
  };
  choose(true);
  choose(false);
  return calls;
}

void forget_called_functions(uint64_t begin, uint64_t end) { ids.forget(begin, end); }

}  // namespace telltale::recorder

using namespace telltale::recorder;

// As in gcc's manual, "Program Instrumentation Options".
// NOLINTBEGIN(*-reserved-identifier,*-identifier-naming): their names are what they are
extern "C" {
__attribute__((visibility("default"))) void __cyg_profile_func_enter(void* function,
                                                                     void* call_site) {
  record(function, telltale::xray::FunctionAction::enter, __builtin_dwarf_cfa(), call_site);
}
__attribute__((visibility("default"))) void __cyg_profile_func_exit(void* function,
                                                                    void* call_site) {
  record(function, telltale::xray::FunctionAction::exit, __builtin_dwarf_cfa(), call_site);
}
}
// NOLINTEND(*-reserved-identifier,*-identifier-naming)
