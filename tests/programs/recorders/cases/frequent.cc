// Functions that are called often and last shortly, in two threads and in signal handlers that
// interrupt these. The outermost call of again() is open for the whole run. Prints how many calls
// were made.
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

constexpr size_t kStackBytes = 64 * 1024;

std::atomic<long> made{1};  // with main
thread_local long made_here = 0;
volatile long sink;

[[gnu::noinline]] void tiny(int n) {
  ++made_here;
  sink = n;
}
[[gnu::noinline]] long down(int n) {
  ++made_here;
  const long rest = n == 0 ? 0 : down(n - 1);
  sink = rest;
  return rest + n;
}
[[gnu::noinline]] void handled(int) {
  tiny(0);
  down(1);
  made_here -= 3;  // which may be about to be stored
  made.fetch_add(4);
}
[[gnu::noinline]] void throws(int n) {
  ++made_here;
  sink = n;
  if (n % 2 == 0) throw n;
}
[[gnu::noinline]] void round_of(int n) {
  ++made_here;
  for (int i = 0; i < 1000; ++i) tiny(i);
  for (int i = 0; i < 100; ++i) down(5);
  try {
    throws(n);
  } catch (int) {
  }
}
[[gnu::noinline]] void again(int rounds) {
  ++made_here;
  for (int i = 0; i < rounds; ++i) {
    round_of(i);
    for (int k = 0; k < 500; ++k) again(0);
  }
}
#ifdef __clang__
#define XRAY_NEVER [[clang::xray_never_instrument]]
#else
#define XRAY_NEVER
#endif
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
[[gnu::no_instrument_function]] XRAY_NEVER timer_t interrupt_often() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR2;
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  const itimerspec often = {{0, 100'000}, {0, 100'000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, nullptr) != 0)
    std::abort();
  return timer;
}
// On a stack of its own, if `stack` says so.
[[gnu::noinline]] void works(int rounds, bool signals, void* stack) {
  ++made_here;
  timer_t timer = {};
  if (signals) {
    const stack_t own = {stack, 0, kStackBytes};
    if (stack != nullptr) sigaltstack(&own, nullptr);
    timer = interrupt_often();
  }
  again(rounds);
  if (signals) timer_delete(timer);
  made += made_here;
}
[[gnu::noinline]] void child_works() {
  for (int i = 0; i < 10; ++i) tiny(i);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const bool signals = argc > 2 && std::strcmp(argv[2], "signals") == 0;
  struct sigaction action = {};
  action.sa_handler = handled;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
  // Handlers of the first thread run below its stack, those of the second above it.
  static char low[kStackBytes];
  void* const high = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool own = argc > 3 && std::strcmp(argv[3], "stacks") == 0;
  std::thread one(works, rounds, signals, own ? low : nullptr);
  std::thread two(works, rounds, signals, own ? high : nullptr);
  one.join();
  two.join();
  if (argc > 2 && std::strcmp(argv[2], "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      child_works();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  std::printf("%ld\n", made.load());
}
