#include <pthread.h>
#include <sys/auxv.h>
#include <telltale/xray_recorder.h>

#include "begin.h"
#include "cells.h"
#include "clock.h"
#include "events.h"
#include "filter.h"
#include "hooks.h"
#include "loader.h"
#include "options.h"
#include "side_record.h"
#include "signals.h"
#include "snapshot.h"
#include "syscalls.h"
#include "thread_name.h"
#include "trace_file.h"

// Declared here because <stdlib.h> in C++ needs long double, which clang lacks with
// -mgeneral-regs-only.
extern "C" char* secure_getenv(const char* name);
extern "C" int unsetenv(const char* name);

// glibc 2.35 and later: where the kernel keeps the thread's CPU number.
// NOLINTBEGIN(*-reserved-identifier,*-identifier-naming): their names are what they are
extern "C" {
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
}
// NOLINTEND(*-reserved-identifier,*-identifier-naming)

namespace telltale::recorder {
namespace {

constexpr int kNotUnderstood = -1;
constexpr int kNotPossible = -2;
constexpr size_t kPage = 4096;
constexpr int kCpuInRseq = 4;

uint64_t thread_pointer() {
  uint64_t pointer;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

void say(const char* what) {
  Text<512> line;
  line.add("telltale-xray: ").add(what).add('\n');
  sys::call(SYS_write, 2, line.c_str(), line.size());
}

// At the thread's own end; also in later rounds of key destructors, if destructors record events.
void on_thread_end(void*) {
  if (state.fork_mark->alive == 0) return;
  const sys::BlockSignals blocked;
  thread_state.busy = 1;
  note_thread_name();
  Control* const control = thread_state.current;
  thread_state.current = &unregistered;
  release_controls(control);
  forget_open_calls();
  take_signal_stack();
  thread_state.busy = 0;
}

// Set up once in a process, whatever the number of recordings. False: no memory.
bool prepare_process() {
  if (state.controls != nullptr) return true;
  const size_t bytes = kPage + kMostControls * sizeof(Control);
  auto* const memory = static_cast<std::byte*>(sys::map_private(bytes));
  if (memory == nullptr) return false;
  sys::call(SYS_madvise, memory, bytes, MADV_WIPEONFORK);
  state.fork_mark = reinterpret_cast<ForkMark*>(memory);
  pthread_key_t key;
  state.thread_key = pthread_key_create(&key, on_thread_end) == 0 ? static_cast<int>(key) : -1;
  const bool has_rseq = &__rseq_size != nullptr && __rseq_size != 0;
  state.rseq_cpu = has_rseq
                       ? __rseq_offset + kCpuInRseq
                       : static_cast<int64_t>(reinterpret_cast<uint64_t>(&thread_state.same_cpu) -
                                              thread_pointer());
  state.controls = reinterpret_cast<Control*>(memory + kPage);
  return true;
}

void reset_cells() {
  state.threads_seen = 0;
  state.cells_used = state.closed_first = state.closed_count = state.partial_count = 0;
  state.space_gone = false;
  state.header = &state.spare_header;
  state.side = &state.spare_side;
  trace_path.clear();
}

int start(const char* text) {
  static SpinLock lock;
  const Locked locked(lock);
  if (state.recording) return kNotPossible;
  static Options options;
  Text<256> complaint;
  if (!parse_options(text, options, complaint)) {
    say(complaint.c_str());
    return kNotUnderstood;
  }
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  state.options = options;
  reset_cells();
  if (prepare_process()) {
    choose_clock();
    state.pid = sys::pid();
    state.recording = true;
    state.fork_mark->beginning = state.fork_mark->alive = 0;
    if (state.sparse_interval != 0 && !start_ticking()) {
      state.options.clock = state.clock = ClockKind::tsc;  // all events timed: as good as sparse
    }
    choose_hooks();
    install_signals();
    if (options.notes_crashes()) give_signal_stack();
    scan_objects();
    const bool watched = watch_loader();
    patch_chosen(true);
    const sys::BlockSignals blocked;
    if (has_sleds() && state.fork_mark->alive == 0) begin_recording();
    if (!watched) __atomic_fetch_or(&state.side->flags, kSideLoaderNotWatched, __ATOMIC_RELAXED);
  }
  thread_state.busy = busy_before;
  return state.recording ? 0 : kNotPossible;
}

void stop() {
  if (!state.recording || state.fork_mark->alive == 0) return;
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  patch_chosen(false);
  state.recording = false;
  choose_hooks();
  {
    const sys::BlockSignals blocked;
    finish_files(false);
    // Events in progress still go to the old buffers; after them threads have none.
    const Locked locked(state.lock);
    for (uint32_t i = 0; i < state.controls_used; ++i) {
      state.controls[i].limit = state.controls[i].clock_at = nullptr;
      state.controls[i].kind = ControlKind::unregistered;
    }
    state.first_unused_control = 0;
  }
  thread_state.busy = busy_before;
}

// Before the program's own constructors, if the linker allows it.
__attribute__((constructor(101))) void start_by_environment() {
  constexpr const char* kVariable = "TELLTALE_XRAY";
  // A program with more privileges than its caller (setuid, capabilities) ignores the variable, and
  // so do programs that it starts with these privileges.
  if (getauxval(AT_SECURE) != 0) unsetenv(kVariable);
  const char* const text = secure_getenv(kVariable);
  if (text == nullptr || same_text(text, "off") || same_text(text, "0")) return;
  start(text);
}

// Recording continues: destructors and other threads may still record events.
__attribute__((destructor(101))) void end_by_exit() {
  if (!state.recording || state.fork_mark->alive == 0) return;
  const sys::BlockSignals blocked;
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  finish_files(true);
  thread_state.busy = busy_before;
}

}  // namespace
}  // namespace telltale::recorder

using namespace telltale::recorder;

int telltale_xray_start(const char* options) { return start(options); }
void telltale_xray_stop(void) {
  begin_if_forked();
  stop();
}
int telltale_xray_is_recording(void) { return state.recording ? 1 : 0; }
int64_t telltale_xray_snapshot(const char* path) { return write_snapshot(path); }
void telltale_xray_event(const void* payload, size_t bytes) { record_custom(payload, bytes); }
void telltale_xray_typed_event(uint16_t type, const void* payload, size_t bytes) {
  record_typed(type, payload, bytes);
}
const char* telltale_xray_file(void) {
  begin_if_forked();
  return trace_path.c_str();
}

void telltale_xray_scan_objects(void) {
  begin_if_forked();
  if (!state.recording) return;
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  scan_objects();
  thread_state.busy = busy_before;
}

int telltale_xray_patch(const char* glob, int on) {
  begin_if_forked();
  if (!state.recording || glob == nullptr) return 0;
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  const int patched = patch_functions(glob, on != 0);
  thread_state.busy = busy_before;
  return patched;
}

void telltale_xray_get_losses(struct telltale_xray_losses* losses) {
  begin_if_forked();
  const SideHeader& side = *state.side;
  losses->overwritten = side.lost_overwritten;
  losses->no_space = side.lost_no_space;
  losses->reentrant = side.lost_reentrant;
  losses->too_large = side.lost_too_large;
  losses->left_out = side.left_out;
}
