#include "start.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <telltale/xray_recorder.h>

#include "begin.h"
#include "cells.h"
#include "clock.h"
#include "control.h"
#include "events.h"
#include "filter.h"
#include "frequent_functions.h"
#include "hooks.h"
#include "loader.h"
#include "options.h"
#include "plain.h"
#include "recorded_calls.h"
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
  const sys::BlockSignals blocked;
  if (state.fork_mark->alive == 0) {
    end_control_with_last_thread();
    return;
  }
  decide_open_calls(true);
  thread_state.busy = 1;
  note_thread_name();
  Control* const control = thread_state.current;
  thread_state.current = &unregistered;
  release_controls(control);
  forget_open_calls();
  forget_recorded_calls();
  take_signal_stack();
  end_control_with_last_thread();
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
  state.space_gone = true;  // until the files are open
  state.header = &state.spare_header;
  state.side = &state.spare_side;
  trace_path.clear();
}

void keep_watch_flag(bool watched) {
  if (!watched) __atomic_fetch_or(&state.side->flags, kSideLoaderNotWatched, __ATOMIC_RELAXED);
}

// The thread is inside the recorder: functions that the recorder calls are not recorded.
class Busy {
 public:
  Busy() : before_(thread_state.busy) { thread_state.busy = 1; }
  ~Busy() { thread_state.busy = before_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  uint32_t before_;
};

bool loader_is_watched = false;

// Forgets the recording of the parent, if this is a forked child in which none has begun yet.
void forget_parent_if_forked() {
  if (state.pid == 0 || state.pid == sys::pid()) return;
  const sys::BlockSignals blocked;
  forget_parent();
  state.pid = sys::pid();
}

// Gives up what an earlier recording of this process left, if there was one. Needs the lifecycle
// lock.
void give_up_last_recording() {
  const sys::BlockSignals blocked;
  give_up_files();
  const Locked locked(state.lock);
  take_all_buffers();
  reset_cells();
  __atomic_fetch_add(&state.epoch, 1, __ATOMIC_ACQ_REL);
}

int start(const char* text) {
  static SpinLock lock;
  const Locked locked(lock);
  static Options options;
  Text<256> complaint;
  if (state.recording) return kNotPossible;
  if (!parse_options(text, options, complaint)) {
    say(complaint.c_str());
    return kNotUnderstood;
  }
  const Busy busy;
  if (!prepare_process()) return kNotPossible;
  const Locked alone(state.fork_mark->lifecycle);
  if (state.recording) return kNotPossible;
  forget_parent_if_forked();
  give_up_last_recording();
  state.options = options;
  if (options.auto_calls != 0 && !prepare_dropping()) state.options.auto_calls = 0;
  choose_functions(options.functions);
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
  loader_is_watched = watch_loader();
  patch_chosen(true);
  start_control();
  const sys::BlockSignals blocked;
  if (has_sleds() && state.fork_mark->alive == 0) begin_recording();
  keep_watch_flag(loader_is_watched);
  return state.recording ? 0 : kNotPossible;
}

// Whether this thread is the one that decides whether a file is opened, of a recording that has
// none yet.
bool takes_beginning() {
  return state.fork_mark->alive == 0 &&
         __atomic_exchange_n(&state.fork_mark->beginning, 1, __ATOMIC_ACQUIRE) == 0;
}

// Needs the lifecycle lock; `busy` is set.
void stop_now() {
  const sys::BlockSignals blocked;
  const bool has_files = !takes_beginning();
  if (has_files) {
    while (__atomic_load_n(&state.fork_mark->alive, __ATOMIC_ACQUIRE) == 0)
      sys::call(SYS_sched_yield);
  } else {
    forget_parent_if_forked();
  }
  // Hooks before sleds: while sleds are changed, one after the other, entries and exits of a
  // function would not match.
  state.recording = false;
  choose_hooks();
  __atomic_store_n(&state.fork_mark->alive, 1, __ATOMIC_RELEASE);
  patch_chosen(false);
  if (!has_files) return;
  state.side->stop_ticks = clock_now();
  __atomic_fetch_or(&state.side->flags, kSideStopped, __ATOMIC_RELAXED);
  finish_files(false);
  const Locked locked(state.lock);
  space_is_gone();
  take_all_buffers();
}

// Needs the lifecycle lock; `busy` is set. False: no file can be written.
bool start_now() {
  forget_parent_if_forked();
  give_up_last_recording();
  choose_clock();
  scan_objects();  // objects that were loaded meanwhile
  patch_chosen(true);
  const sys::BlockSignals blocked;
  state.fork_mark->beginning = state.fork_mark->alive = 0;
  state.recording = true;
  if (state.sparse_interval != 0 && !start_ticking())
    state.options.clock = state.clock = ClockKind::tsc;
  // Sets the hooks, too: all sleds of a function begin to record at once.
  begin_recording();
  keep_watch_flag(loader_is_watched);
  return state.recording;
}

// Before the program's own constructors, if the linker allows it.
__attribute__((constructor(101))) void start_by_environment() {
  constexpr const char* kVariable = "TELLTALE_XRAY";
  // A program with more privileges than its caller (setuid, capabilities) ignores the variable, and
  // so do programs that it starts with these privileges.
  if (getauxval(AT_SECURE) != 0) unsetenv(kVariable);
  const char* const text = secure_getenv(kVariable);
  if (text == nullptr || same_text(text, "off") || same_text(text, "0")) return;
  set_scans_at_start(true);
  start(text);
  set_scans_at_start(false);
}

// Recording continues: destructors and other threads may still record events.
__attribute__((destructor(101))) void end_by_exit() {
  if (!state.recording || state.fork_mark->alive == 0) return;
  const sys::BlockSignals blocked;
  decide_open_calls(false);
  const uint32_t busy_before = thread_state.busy;
  thread_state.busy = 1;
  finish_files(true);
  thread_state.busy = busy_before;
}

}  // namespace

bool stop_recording() {
  if (state.fork_mark == nullptr) return false;
  const Busy busy;
  const Locked alone(state.fork_mark->lifecycle);
  if (!state.recording) return false;
  stop_now();
  return true;
}

Started start_recording_again() {
  const Busy busy;
  const Locked alone(state.fork_mark->lifecycle);
  if (state.recording) return Started::already;
  return start_now() ? Started::yes : Started::no;
}

bool change_filters(const Options& options) {
  const Busy busy;
  const Locked alone(state.fork_mark->lifecycle);
  const bool was = state.recording;
  if (was) stop_now();
  if (was && state.options.mode == Mode::snapshot) {
    Path path;
    write_named_snapshot(path);
  }
  state.options.depth = options.depth;
  state.options.min_ns = options.min_ns;
  choose_functions(options.functions);
  return !was || start_now();
}

}  // namespace telltale::recorder

using namespace telltale::recorder;

int telltale_xray_start(const char* options) { return start(options); }
void telltale_xray_stop(void) {
  begin_if_forked();
  stop_recording();
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
