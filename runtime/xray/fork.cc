#include "fork.h"

#include "hooks.h"
#include "side_record.h"
#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {

void continue_in_child() {
  thread_state.current = &unregistered;
  thread_state.retired = nullptr;
  state.lock.reset();
  state.controls_used = state.first_unused_control = 0;
  state.threads_seen = 0;
  state.cells_used = state.closed_first = state.closed_count = state.partial_count = 0;
  state.space_gone = false;
  state.parent_pid = state.pid;
  state.header = &state.spare_header;
  state.side = &state.spare_side;
  trace_file.forget();
  side_file.forget();
  trace_path.clear();
  // The thread that ticks stayed with the parent.
  if (state.options.clock == ClockKind::sparse) state.options.clock = ClockKind::tsc;
  state.recording = state.options.follow_forks && open_recording();
  state.fork_mark->alive = 1;
  if (state.recording) rewrite_side();
  choose_hooks();
}

}  // namespace telltale::recorder
