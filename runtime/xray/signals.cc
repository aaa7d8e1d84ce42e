#include "signals.h"

#include <signal.h>

#include "../signals/aligned_handler.h"
#include "../signals/alignment_check.h"
#include "../signals/kept_handlers.h"
#include "../signals/sanitizer_death.h"
#include "cells.h"
#include "snapshot.h"
#include "state.h"
#include "syscalls.h"
#include "thread_name.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
constexpr int kMostSignal = 65;
constexpr size_t kStackBytes = size_t{64} * 1024;
constexpr size_t kGuardBytes = 4096;

struct sigaction before[kMostSignal];
int crashing = 0;  // the thread that writes the snapshot
int snapshot_done = 0;
void* after_fault[5];  // for __builtin_setjmp

// The trace was truncated, or its disk is gone: later events go into anonymous memory, or are
// counted as lost.
bool lose_trace(const void* address) {
  if (!trace_file.replace_if_holds(address)) {
    if (!side_file.replace_if_holds(address)) return false;
    return true;
  }
  space_is_gone();
  return true;
}

// Restores the previous handler and lets the kernel deliver the signal again.
void hand_on(int signal, siginfo_t* info) {
  signals::set_action(signal, &before[signal], nullptr);
  const bool comes_by_itself =
      info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGTRAP && signal != SIGSYS;
  if (comes_by_itself) return;
  sys::call(SYS_rt_tgsigqueueinfo, sys::pid(), sys::tid(), signal, info);
}

bool is_crashing_here() {
  return __atomic_load_n(&crashing, __ATOMIC_ACQUIRE) == sys::tid() &&
         __atomic_load_n(&snapshot_done, __ATOMIC_ACQUIRE) == 0;
}

// For the side record: which thread ends the process, if the program's own handlers do not prevent
// it.
void note_end(int signal, const siginfo_t* info) {
  const bool has_address = info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGABRT &&
                           signal != SIGSYS && signal != SIGTRAP;
  state.side->end_signal = static_cast<uint32_t>(signal);
  state.side->end_tid = static_cast<uint32_t>(sys::tid());
  state.side->end_ticks = clock_now();
  state.side->end_address = has_address ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
}

// The recorder's own code may hold the lock that this takes: not for a crash in it.
void note_crashing_name() {
  const sys::BlockSignals blocked;
  thread_state.busy = 1;
  note_thread_name();
  thread_state.busy = 0;
}

// Run by the first thread that crashes; the others wait until it is done. The program may have
// overwritten our memory: a fault in here ends the snapshot, and the original signal proceeds.
// `info` is null if a sanitizer ends the process, without a signal.
void crash(int signal, const siginfo_t* info) {
  int nobody = 0;
  if (!__atomic_compare_exchange_n(&crashing, &nobody, sys::tid(), false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    sys::wait_until([] { return __atomic_load_n(&snapshot_done, __ATOMIC_ACQUIRE) != 0; });
    return;
  }
  if (__builtin_setjmp(after_fault) == 0) {
    if (info != nullptr) note_end(signal, info);
    if (thread_state.busy == 0) note_crashing_name();
    if (state.options.mode == Mode::snapshot) write_last_snapshot();
  }
  __atomic_store_n(&snapshot_done, 1, __ATOMIC_RELEASE);
}

TELLTALE_SIGNAL_HANDLER void on_fatal(int signal, siginfo_t* info, void*) {
  const signals::WithoutAlignmentCheck unchecked;
  if (signal == SIGBUS && info->si_code == BUS_ADRERR && lose_trace(info->si_addr)) return;
  if (is_crashing_here()) __builtin_longjmp(after_fault, 1);
  if (state.options.notes_crashes()) crash(signal, info);
  hand_on(signal, info);
}

void on_sanitizer_death() { crash(0, nullptr); }

// The previous handler runs after ours; for the default action, ending the process is our task.
TELLTALE_SIGNAL_HANDLER void on_snapshot_signal(int signal, siginfo_t* info, void* context) {
  {
    const signals::WithoutAlignmentCheck unchecked;
    write_snapshot(nullptr);
  }
  struct sigaction& host = before[signal];
  const bool asks = (host.sa_flags & SA_SIGINFO) != 0;
  if (!asks && (host.sa_handler == SIG_DFL || host.sa_handler == SIG_IGN)) return;
  const struct sigaction now = host;
  if ((host.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    host.sa_flags = 0;
    host.sa_handler = SIG_DFL;
  }
  if (asks) {
    now.sa_sigaction(signal, info, context);
  } else {
    now.sa_handler(signal);
  }
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction old{};
  if (signals::set_action(signal, nullptr, &old) != 0 || old.sa_sigaction == handler) return;
  static bool keeps_ignored[signals::kSignalLimit];
  if (handler == on_fatal) {
    if (keeps_ignored[signal]) return;
    keeps_ignored[signal] = telltale_keep_ignored_v1(signal, &action, &old) != 0;
    if (keeps_ignored[signal]) before[signal] = old;
    if (keeps_ignored[signal]) return;
  }
  // Other ignored signals stay ignored, also in programs that this one execs.
  if (handler == on_fatal && signals::is_ignored(old)) return;
  if (handler == on_snapshot_signal && old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    action.sa_mask = old.sa_mask;
    action.sa_flags = SA_SIGINFO | (old.sa_flags & (SA_NODEFER | SA_ONSTACK | SA_RESTART));
  }
  before[signal] = old;
  signals::set_action(signal, &action, nullptr);
  if (handler == on_fatal) telltale_keep_handler_v1(signal, &action, &old);
}

}  // namespace

void install_signals() {
  if (state.options.signal != 0) install(state.options.signal, on_snapshot_signal);
  // If crashes are not noted, the program finds its signals as without a recorder, but for SIGBUS.
  if (!state.options.notes_crashes()) {
    install(SIGBUS, on_fatal);
    return;
  }
  for (const int signal : kFatal) install(signal, on_fatal);
  if (state.options.mode == Mode::snapshot) signals::at_sanitizer_death(on_sanitizer_death);
}

void give_signal_stack() {
  stack_t now{};
  if (sys::failed(sys::call(SYS_sigaltstack, static_cast<void*>(nullptr), &now)) ||
      (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  auto* const memory = static_cast<std::byte*>(sys::map_private(kGuardBytes + kStackBytes));
  if (memory == nullptr) return;
  sys::call(SYS_mprotect, memory, kGuardBytes, PROT_NONE);
  stack_t ours{};
  ours.ss_sp = memory + kGuardBytes;
  ours.ss_size = kStackBytes;
  if (sys::failed(sys::call(SYS_sigaltstack, &ours, static_cast<void*>(nullptr)))) {
    sys::call(SYS_munmap, memory, kGuardBytes + kStackBytes);
    return;
  }
  thread_state.signal_stack = memory;
}

void take_signal_stack() {
  if (thread_state.signal_stack == nullptr) return;
  stack_t now{};
  sys::call(SYS_sigaltstack, static_cast<void*>(nullptr), &now);
  auto* const memory = static_cast<std::byte*>(thread_state.signal_stack);
  if (now.ss_sp == memory + kGuardBytes) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sys::call(SYS_sigaltstack, &none, static_cast<void*>(nullptr));
  }
  sys::call(SYS_munmap, memory, kGuardBytes + kStackBytes);
  thread_state.signal_stack = nullptr;
}

}  // namespace telltale::recorder
