#include "signals.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "registry.h"
#include "report.h"

namespace telltale::sampler {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGBUS,  SIGFPE, SIGHUP,  SIGILL,  SIGINT,  SIGPIPE,
                            SIGQUIT, SIGSEGV, SIGSYS, SIGTERM, SIGTRAP, SIGXCPU, SIGXFSZ};
constexpr int kMostSignal = 65;
constexpr size_t kStackBytes = size_t{256} * 1024;

struct sigaction before[kMostSignal];
bool watching = false;
pthread_key_t stack_key;
bool has_stack_key = false;

// The signal comes again, with what was there before in charge.
void hand_on(int signal, siginfo_t* info) {
  ::sigaction(signal, &before[signal], nullptr);
  const bool comes_by_itself =
      info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGTRAP && signal != SIGSYS;
  if (comes_by_itself) return;
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), signal, info);
}

void on_fatal(int signal, siginfo_t* info, void*) {
  const int kept = errno;
  if (report_crash()) report_backtrace();
  hand_on(signal, info);
  errno = kept;
}

void take_signal_stack(void* memory) {
  stack_t now = {};
  ::sigaltstack(nullptr, &now);
  if (now.ss_sp == memory) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(memory, kStackBytes);
}

}  // namespace

void give_signal_stack() {
  stack_t now = {};
  if (!watching || ::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* const memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t ours = {};
  ours.ss_sp = memory;
  ours.ss_size = kStackBytes;
  if (::sigaltstack(&ours, nullptr) != 0 || !has_stack_key) return;
  ::pthread_setspecific(stack_key, memory);
}

bool watches_signals() { return watching; }

void watch_signals() {
  if (watching) return;
  watching = true;
  // The first call loads the unwinder, which a handler could not.
  void* frame = nullptr;
  ::backtrace(&frame, 1);
  has_stack_key = ::pthread_key_create(&stack_key, take_signal_stack) == 0;
  give_signal_stack();
  struct sigaction action = {};
  action.sa_sigaction = on_fatal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) {
    ::sigaction(signal, nullptr, &before[signal]);
    // What is ignored stays ignored.
    if ((before[signal].sa_flags & SA_SIGINFO) == 0 && before[signal].sa_handler == SIG_IGN)
      continue;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace telltale::sampler
