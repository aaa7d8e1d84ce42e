// Functions that are called often and last shortly, in two threads and in a signal handler. The
// outermost call of again() is open for the whole run. Prints how many calls were made.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

std::atomic<long> made{1};  // with main
thread_local long made_here = 0;
volatile long sink;

[[gnu::noinline]] void tiny(int n) {
  ++made_here;
  sink = n;
}
[[gnu::noinline]] void handled(int) { made.fetch_add(1); }
[[gnu::noinline]] long down(int n) {
  ++made_here;
  const long rest = n == 0 ? 0 : down(n - 1);
  sink = rest;
  return rest + n;
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
[[gnu::noinline]] void works(int rounds) {
  ++made_here;
  again(rounds);
  made += made_here;
}
[[gnu::noinline]] void child_works() {
  for (int i = 0; i < 10; ++i) tiny(i);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (argc > 2 && std::strcmp(argv[2], "signals") == 0) {
    signal(SIGALRM, handled);
    const itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  std::thread one(works, rounds);
  std::thread two(works, rounds);
  one.join();
  two.join();
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
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
