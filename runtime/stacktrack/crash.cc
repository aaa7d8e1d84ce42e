// A ring in memory is written to a file when a signal kills the program. Async-signal-safe once it
// is set up.

#include <signal.h>

#include <cstring>

#include "configure.h"

namespace telltale::st {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
constexpr int kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
// Room for the largest register state there is, several times over.
constexpr size_t kStackBytes = 1U << 17;

struct sigaction before[kSignalCount];
char dump_path[kPathBytes];
int dump_sink = -1;
uint32_t dumped = 0;

void dump_once() {
  uint32_t no = 0;
  if (!__atomic_compare_exchange_n(&dumped, &no, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
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

// The signal goes the way it would have gone without us: the host's handler, or its end.
void pass_on(int number, siginfo_t* info, void* context, const struct sigaction& action) {
  const bool asks = (action.sa_flags & SA_SIGINFO) != 0;
  if (asks && action.sa_sigaction != nullptr) return action.sa_sigaction(number, info, context);
  if (!asks && action.sa_handler == SIG_IGN && info->si_code <= 0) return;  // sent, not a fault
  if (!asks && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
    return action.sa_handler(number);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(number, &standard, nullptr);
  // A fault comes again when this returns; a signal that was sent does not.
  if (info->si_code <= 0 || number == SIGABRT) ::raise(number);
}

void handle(int number, siginfo_t* info, void* context) {
  const KeepErrno keep;
  for (int i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] != number) continue;
    // A fault in here must end the process: next time it goes straight on.
    ::sigaction(number, &before[i], nullptr);
    dump_once();
    return pass_on(number, info, context, before[i]);
  }
}

// So that a stack that overflowed can be told about, at least in the thread that opens the ring.
void give_signal_stack() {
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  stack_t stack = {};
  stack.ss_sp = map_memory(kStackBytes);
  stack.ss_size = kStackBytes;
  if (stack.ss_sp != nullptr) ::sigaltstack(&stack, nullptr);
}

}  // namespace

void dump_on_crash(int sink, const char* path) {
  static bool installed = false;
  dump_sink = sink;
  std::strncpy(dump_path, path, kPathBytes - 1);
  if (installed) return;
  installed = true;
  give_signal_stack();
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int i = 0; i < kSignalCount; ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    // An ignored signal stays ignored.
    if ((before[i].sa_flags & SA_SIGINFO) == 0 && before[i].sa_handler == SIG_IGN) continue;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace telltale::st
