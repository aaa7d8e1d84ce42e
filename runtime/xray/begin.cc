#include "begin.h"

#include "call_cost.h"
#include "frequent_functions.h"
#include "hooks.h"
#include "loader.h"
#include "side_record.h"
#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

// The child has only a copy of the parent's memory: no mapping but the head of the side record, no
// other threads. Returns that head; null: the parent has no file.
SideHeader* forget_all_but_head() {
  auto* const head = reinterpret_cast<SideHeader*>(side_file.shared_head());
  thread_state.current = &unregistered;
  thread_state.kept = nullptr;
  thread_state.name[0] = '\0';
  // A lock's holder may have stayed with the parent. The guarded data is written so that each store
  // leaves it consistent.
  state.lock.reset();
  reset_side_lock();
  reset_objects_lock();
  reset_frequent_functions();
  state.controls_used = state.first_unused_control = 0;
  state.threads_seen = 0;
  state.cells_used = state.closed_first = state.closed_count = state.partial_count = 0;
  state.parent_pid = state.pid;
  state.header = &state.spare_header;
  state.side = &state.spare_side;
  trace_file.forget();
  side_file.forget();
  trace_path.clear();
  state.part = 0;
  __atomic_fetch_add(&state.epoch, 1, __ATOMIC_ACQ_REL);
  // The timer thread stayed with the parent.
  if (state.options.clock == ClockKind::sparse) state.options.clock = ClockKind::tsc;
  return head;
}

// Unmaps the parent's page. If `error` is not 0, the child could not create its own recording,
// and the parent's side record counts that first.
void leave_parents_head(SideHeader* head, long error) {
  if (head == nullptr) return;
  if (error != 0) {
    sys::add_if_mapped(&head->unrecorded_children, 1);
    sys::set_if_mapped(&head->unrecorded_error, static_cast<uint32_t>(-error));
  }
  sys::call(SYS_munmap, head, kPage);
}

// What the last Chosen record of the side record says.
char noted_functions[sizeof(Options::functions)] = "";

void note_chosen_functions() {
  const char* const list = state.options.functions;
  if (same_text(noted_functions, list)) return;
  const size_t bytes = text_length(list);
  const uint32_t fields[2] = {static_cast<uint32_t>(bytes), 0};
  if (append_side(SideKind::chosen, fields, sizeof(fields), list, bytes))
    copy_bytes(noted_functions, list, bytes + 1);
}

}  // namespace

void forget_parent() { leave_parents_head(forget_all_but_head(), 0); }

void begin_recording() {
  if (__atomic_exchange_n(&state.fork_mark->beginning, 1, __ATOMIC_ACQUIRE) != 0) {
    while (__atomic_load_n(&state.fork_mark->alive, __ATOMIC_ACQUIRE) == 0)
      sys::call(SYS_sched_yield);
    return;
  }
  const bool child = sys::pid() != state.pid;
  SideHeader* const parents_head = child ? forget_all_but_head() : nullptr;
  const bool wanted = !child || state.options.follow_forks;
  const long error = wanted ? open_recording() : 0;
  leave_parents_head(parents_head, error);
  const bool begun = wanted && error == 0;
  if (begun) {
    note_chosen_functions();
    rewrite_side();
    state.min_ticks =
        static_cast<uint64_t>(Wide{state.options.min_ns} * state.side->frequency / 1'000'000'000);
  }
  state.recording = begun;
  choose_hooks();
  measure_call_cost();
  __atomic_store_n(&state.fork_mark->alive, 1, __ATOMIC_RELEASE);
}

void begin_from_hook() {
  const sys::BlockSignals blocked;
  const uint32_t busy = thread_state.busy;
  thread_state.busy = 1;
  begin_recording();
  thread_state.busy = busy;
}

void begin_if_forked() {
  if (state.recording && state.fork_mark->alive == 0 && sys::pid() != state.pid) begin_from_hook();
}

}  // namespace telltale::recorder
