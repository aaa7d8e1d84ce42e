// Async-signal-safe after setup.

#include "crash.h"

#include <signal.h>

#include <cstring>

#include "../signals/aligned_handler.h"
#include "../signals/alignment_check.h"
#include "../signals/kept_handlers.h"
#include "../signals/sanitizer_death.h"
#include "configure.h"
#include "emit.h"

// clang supports it only on this processor.
#if defined(__x86_64__)
#define TELLTALE_ST_COMES_BACK 1
#else
#define TELLTALE_ST_COMES_BACK 0
#endif

namespace telltale::st {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
constexpr int kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
// Several times the size of the largest register state.
constexpr size_t kStackBytes = 1U << 17;
constexpr size_t kGuardBytes = 4096;
// How long other crashing threads wait for the dump.
constexpr int kMostWaits = 900;
constexpr long kWaitNs = 1'000'000;

struct sigaction before[kSignalCount];
bool installed[kSignalCount];
char dump_path[kPathBytes];
int dump_sink = -1;
uint32_t dumping = 0;  // the thread that dumps
uint32_t dumped = 0;
[[maybe_unused]] void* after_fault[5];  // for __builtin_setjmp

void dump() {
  const Inside inside;
  Sink& sink = settings.sinks[dump_sink];
  const Store* const store =
      is_open(sink) ? __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE) : nullptr;
  if (store == nullptr || store->chunk_bytes == 0) return;
  const int file = open_file(dump_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  dump_ring(*store, file);
  close_file(file);
}

// Run by the first thread that crashes, or in which a sanitizer ends the process; the others wait
// until it is done. The program may have overwritten our memory: a fault in here ends the dump, and
// the original signal proceeds.
void dump_once() {
  uint32_t nobody = 0;
  if (!__atomic_compare_exchange_n(&dumping, &nobody, thread_id(), false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    for (int i = 0; i < kMostWaits && __atomic_load_n(&dumped, __ATOMIC_ACQUIRE) == 0; ++i)
      sleep_ns(kWaitNs);
    return;
  }
#if TELLTALE_ST_COMES_BACK
  if (__builtin_setjmp(after_fault) == 0) dump();
#else
  dump();
#endif
  __atomic_store_n(&dumped, 1, __ATOMIC_RELEASE);
}

[[maybe_unused]] bool is_dumping_here() {
  return __atomic_load_n(&dumping, __ATOMIC_RELAXED) == thread_id() &&
         __atomic_load_n(&dumped, __ATOMIC_RELAXED) == 0;
}

// Whose chunk contains the address that could not be stored to?
bool let_go_of_cut_file(const void* address) {
  const Inside inside;
  bool found = false;
  Threads::for_each([&](Node& node) {
    for (int i = 0; i < kMaxSinks && !found; ++i) {
      found = let_go_if_holds(node.streams[i].chunk, address);
      Store* const store = __atomic_load_n(&settings.sinks[i].store, __ATOMIC_ACQUIRE);
      if (!found) continue;
      // The event that was about to be stored.
      const uint64_t events = is_looking_back() ? 0 : 1;
      lose(settings.sinks[i], nullptr, LostReason::no_space, events);
      if (store == nullptr) continue;
      if (node.streams[i].store == store->id) __atomic_store_n(&store->cut, 1, __ATOMIC_SEQ_CST);
      // Counted in a file later: this one may be truncated, too, and no SIGBUS is handled here.
      __atomic_fetch_add(&store->cut_events, events, __ATOMIC_RELAXED);
    }
    return !found;
  });
  for (int i = 0; i < kMaxSinks && !found; ++i) {
    Store* const store = __atomic_load_n(&settings.sinks[i].store, __ATOMIC_ACQUIRE);
    found = store != nullptr && let_go_if_holds(*store, address);
  }
  found = found || let_go_if_replaced_holds(address);
  // Other threads' stores go to the same anonymous memory for now; at their next slow path they
  // continue in the next file.
  if (found) {
    raise_generation();
    Threads::interrupt_all();
  }
  return found;
}

TELLTALE_SIGNAL_HANDLER void handle(int number, siginfo_t* info, void*) {
  const signals::WithoutAlignmentCheck unchecked;
  const KeepErrno keep;
  if (number == SIGBUS && info->si_code == BUS_ADRERR && let_go_of_cut_file(info->si_addr)) return;
#if TELLTALE_ST_COMES_BACK
  if (is_dumping_here()) __builtin_longjmp(after_fault, 1);
#endif
  // Other threads that crash before the dump is done come here, too.
  if (dump_sink >= 0) dump_once();
  for (int i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == number) signals::set_action(number, &before[i], nullptr);
  }
  // When this returns, faults are raised again; sent signals are not.
  const bool comes_by_itself =
      info->si_code > 0 && info->si_code != SI_KERNEL && number != SIGTRAP && number != SIGSYS;
  if (!comes_by_itself) send_again(number, info);
}

void install(int which) {
  if (installed[which]) return;
  signals::set_action(kSignals[which], nullptr, &before[which]);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  if (telltale_keep_ignored_v1(kSignals[which], &action, &before[which]) != 0) {
    installed[which] = true;
    return;
  }
  // Another ignored signal stays ignored, also in programs that this one execs.
  if (signals::is_ignored(before[which])) return;
  installed[which] = true;
  signals::set_action(kSignals[which], &action, nullptr);
  telltale_keep_handler_v1(kSignals[which], &action, &before[which]);
}

}  // namespace

bool crash_is_watched() { return __atomic_load_n(&dump_sink, __ATOMIC_RELAXED) >= 0; }

void give_signal_stack(Node& node) {
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  if (node.signal_stack == nullptr) {
    node.signal_stack = map_memory(kGuardBytes + kStackBytes);
    if (node.signal_stack == nullptr) return;
    forbid_access(node.signal_stack, kGuardBytes);
  }
  stack_t stack = {};
  stack.ss_sp = static_cast<char*>(node.signal_stack) + kGuardBytes;
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, nullptr);
}

void dump_on_crash(int sink, const char* path) {
  std::strncpy(dump_path, path, kPathBytes - 1);
  __atomic_store_n(&dump_sink, sink, __ATOMIC_RELEASE);
  for (int i = 0; i < kSignalCount; ++i) install(i);
  signals::at_sanitizer_death(dump_once);
}

void watch_cut_files() {
  for (int i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == SIGBUS) install(i);
  }
}

}  // namespace telltale::st
