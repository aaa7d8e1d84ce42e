#include "signals.h"

#include <signal.h>

#include "snapshot.h"
#include "state.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
constexpr int kMostSignal = 65;
constexpr size_t kStackBytes = size_t{64} * 1024;
constexpr size_t kGuardBytes = 4096;
// How long threads that crash meanwhile wait for a snapshot.
constexpr int kMostWaits = 900;
constexpr long kWaitNs = 1'000'000;

struct sigaction before[kMostSignal];
int crashes = 0;
int snapshot_done = 0;

// The trace was cut, or its disk is gone: events go on into memory that nobody reads, or are
// counted.
bool lose_trace(const void* address) {
  if (!trace_file.replace_if_holds(address)) {
    if (!side_file.replace_if_holds(address)) return false;
    return true;
  }
  state.space_gone = true;
  state.partial_count = 0;
  for (uint32_t i = 0; i < state.controls_used; ++i) state.controls[i].limit = nullptr;
  return true;
}

// The signal comes again, from the kernel, with what was there before in charge.
void hand_on(int signal, siginfo_t* info) {
  sigaction(signal, &before[signal], nullptr);
  const bool comes_by_itself =
      info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGTRAP && signal != SIGSYS;
  if (comes_by_itself) return;
  sys::call(SYS_rt_tgsigqueueinfo, sys::pid(), sys::tid(), signal, info);
}

void on_fatal(int signal, siginfo_t* info, void*) {
  if (signal == SIGBUS && lose_trace(info->si_addr)) return;
  if (state.options.mode == Mode::snapshot) {
    if (__atomic_exchange_n(&crashes, 1, __ATOMIC_ACQ_REL) == 0) {
      write_snapshot(nullptr);
      __atomic_store_n(&snapshot_done, 1, __ATOMIC_RELEASE);
    } else {
      for (int i = 0; i < kMostWaits && __atomic_load_n(&snapshot_done, __ATOMIC_ACQUIRE) == 0;
           ++i) {
        const timespec pause{0, kWaitNs};
        sys::call(SYS_nanosleep, &pause, static_cast<void*>(nullptr));
      }
    }
  }
  hand_on(signal, info);
}

void on_snapshot_signal(int, siginfo_t*, void*) { write_snapshot(nullptr); }

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigaction old{};
  if (sigaction(signal, nullptr, &old) != 0 || old.sa_sigaction == handler) return;
  before[signal] = old;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signals() {
  if (state.options.signal != 0) install(state.options.signal, on_snapshot_signal);
  if (state.options.mode != Mode::snapshot) {
    install(SIGBUS, on_fatal);
    return;
  }
  for (const int signal : kFatal) install(signal, on_fatal);
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
