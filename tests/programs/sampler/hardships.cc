// Hardships for a recorder inside a program: the first argument selects one. Prints its own counts
// to standard output.
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "forbidden.h"

namespace {

std::atomic<uint64_t> passes{0};
std::atomic<bool> stop{false};
volatile int shared_number;

// The branch that tests count.
int visit(int n) {
  ++passes;
  if (n % 2 == 0) return n + 1;
  shared_number = n;
  return n;
}

int zero() {
  static volatile int nothing = 0;
  return nothing;
}

int dive(int n) {
  volatile char room[4096];
  room[0] = static_cast<char>(n);
  return n < 0 ? 0 : dive(n + 1) + room[0];
}

void fail(const char* how) {
  if (strcmp(how, "segv") == 0) *reinterpret_cast<volatile int*>(16L + zero()) = 1;
  if (strcmp(how, "fpe") == 0) shared_number = 7 / zero();
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "bus") == 0) raise(SIGBUS);
  if (strcmp(how, "ill") == 0) __builtin_trap();
  if (strcmp(how, "trap") == 0) raise(SIGTRAP);
  if (strcmp(how, "sys") == 0) raise(SIGSYS);
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "stack") == 0) dive(0);
  if (strcmp(how, "terminate") == 0) throw 1;
}

void visit_for_a_while(int rounds) {
  for (int i = 0; i < rounds; ++i) visit(i);
}

// R1: events, including a thread's first, and crashes call nothing unsafe.
void unsafe(const char* how) {
  const auto in_stretch = [how] {
    const forbidden::Stretch stretch;
    visit_for_a_while(2000);
    if (strcmp(how, "malloc") == 0) {
      void* volatile memory = malloc(7);
      free(memory);
    }
    if (strcmp(how, "thread") != 0) fail(how);
  };
  if (strcmp(how, "thread") != 0) in_stretch();
  std::thread(in_stretch).join();
}

std::atomic<uint64_t> in_handler{0};
void on_timer(int) {
  const int kept = errno;
  visit(static_cast<int>(in_handler++));
  errno = kept;
}

// R1: handlers that count interrupt two threads that count.
void signals(int milliseconds) {
  struct sigaction action = {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      sigevent event = {};
      event.sigev_notify = SIGEV_THREAD_ID;
      event.sigev_signo = SIGUSR1;
      event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
      timer_t timer;
      timer_create(CLOCK_MONOTONIC, &event, &timer);
      const itimerspec often = {{0, 100'000}, {0, 100'000}};
      timer_settime(timer, 0, &often, nullptr);
      while (!stop) visit_for_a_while(100);
      timer_delete(timer);
    });
  }
  usleep(static_cast<useconds_t>(milliseconds) * 1000);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// R3: children of every kind, while threads count.
void children(int rounds) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      while (!stop) visit_for_a_while(100);
    });
  }
  char name[] = "/bin/true";
  char* const words[] = {name, nullptr};
  for (int i = 0; i < rounds; ++i) {
    pid_t child = 0;
    if (i % 4 == 0 && (child = fork()) == 0) {
      visit_for_a_while(10);
      i % 8 == 0 ? _exit(0) : exit(0);
    }
    // A bare system call: pthread_atfork's handlers do not run.
    if (i % 4 == 1 && (child = static_cast<pid_t>(syscall(SYS_fork))) == 0) {
      if (i % 8 == 1) exit(0);
      raise(SIGTERM);
    }
    if (i % 4 == 2 && (child = vfork()) == 0) _exit(0);
    if (i % 4 == 3) posix_spawn(&child, "/bin/true", nullptr, nullptr, words, nullptr);
    waitpid(child, nullptr, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// R3: closes everything, and the descriptors' numbers become files of its own.
void reuse(const char* folder) {
  visit_for_a_while(10);
  syscall(SYS_close_range, 3, ~0U, 0);
  if (chdir(folder) != 0) exit(3);
  for (int i = 0; i < 20; ++i) {
    const int file = open(("mine." + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600);
    if (write(file, "mine\n", 5) != 5) exit(4);
  }
  visit_for_a_while(10);
}

// R4: many threads at once, many one after another, some cancelled, some that count in the
// destructors of their variables.
struct AtEnd {
  ~AtEnd() { visit(2); }
};
thread_local AtEnd at_end;
void threads(int alive, int in_sequence) {
  std::atomic<int> waiting{0};
  std::vector<std::thread> all;
  for (int i = 0; i < alive; ++i) {
    all.emplace_back([&] {
      (void)&at_end;
      visit_for_a_while(10);
      ++waiting;
      while (!stop) usleep(200'000);
    });
  }
  while (waiting < alive) usleep(1000);
  stop = true;
  for (std::thread& thread : all) thread.join();
  for (int i = 0; i < in_sequence; ++i) std::thread([] { visit_for_a_while(10); }).join();
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          visit_for_a_while(10);
          for (;;) pause();
        },
        nullptr);
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%*d %ld", &pages) != 1) exit(3);
  fclose(file);
  fprintf(stderr, "%ld\n", pages * 4);
}

// R5: two modules alternate at the same addresses.
void modules(int rounds, const char* one, const char* other) {
  for (int i = 0; i < rounds; ++i) {
    void* const module = dlopen(i % 2 == 0 ? one : other, RTLD_NOW);
    if (module == nullptr) exit(3);
    reinterpret_cast<int (*)(int)>(dlsym(module, "module_answer"))(i);
    dlclose(module);
  }
}

// R6: handlers that are installed later and chain to the earlier ones, in both ways. In statically
// linked programs they find ours, in others the default action.
struct sigaction there_before;
void (*plain_before)(int);
void take_default(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}
void informed_later(int signal, siginfo_t* info, void* context) {
  if (write(1, "later\n", 6) != 6) return;
  if (there_before.sa_handler == SIG_DFL) return take_default(signal);
  there_before.sa_sigaction(signal, info, context);
}
void plain_later(int signal) {
  if (write(1, "later\n", 6) == 6) (plain_before == SIG_DFL ? take_default : plain_before)(signal);
}
void later(const char* how, const char* end) {
  const int signal = strcmp(end, "segv") == 0 ? SIGSEGV : SIGTERM;
  struct sigaction action = {};
  action.sa_sigaction = informed_later;
  action.sa_flags = SA_SIGINFO;
  if (strcmp(how, "informed") == 0) sigaction(signal, &action, &there_before);
  if (strcmp(how, "plain") == 0) plain_before = ::signal(signal, plain_later);
  fail(end);
}

// R7: twenty threads crash at the same moment.
void crowd(const char* how) {
  static std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([how] {
      visit_for_a_while(50);
      ++ready;
      while (ready < 20) sched_yield();
      fail(how);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// R7: the first process of a container, which signals without a handler do not end.
void survivor() {
  visit_for_a_while(10);
  raise(SIGTERM);
  std::thread([] {
    visit_for_a_while(20);
    fail("segv");
  }).join();
}

// R7: writing the report reads memory that the program has damaged.
void broken(const char* what) {
  visit_for_a_while(10);
  if (strcmp(what, "counters") == 0) {
    // The pages of this program's data, counters among them.
    const auto page =
        reinterpret_cast<uintptr_t>(const_cast<int*>(&shared_number)) & ~uintptr_t{4095};
    mprotect(reinterpret_cast<void*>(page - 4096), 3 * 4096, PROT_NONE);
    asm volatile("ud2");
  }
  // Unwinding finds an invalid stack.
  static char stack[8192];
  memset(stack, 0x5a, sizeof stack);
  asm volatile("mov %0, %%rsp\n mov %1, %%rbp\n ud2"
               :
               : "r"(stack + 4096), "r"(uintptr_t{0x5a5a5a5a5a5a5a5a}));
}

// R8: on a signal stack of the program's own, as small as programs make them.
void own_small_stack() {
  static char memory[16384];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  dive(0);
}

// R9: errno, the rounding mode, floating-point flags and traps are the program's.
void invisible() {
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  uint64_t changed = 0;
  for (int i = 0; i < 20000; ++i) {
    fesetround(modes[i % 4]);
    feclearexcept(FE_ALL_EXCEPT);
    if (i % 8 >= 4) feraiseexcept(FE_UNDERFLOW);
    const int flags = fetestexcept(FE_ALL_EXCEPT);
    feenableexcept(i % 3 == 0 ? FE_INEXACT | FE_DIVBYZERO : 0);
    errno = 1000 + i;
    visit(i);
    if (errno != 1000 + i || fegetround() != modes[i % 4] || fetestexcept(FE_ALL_EXCEPT) != flags)
      ++changed;
    fedisableexcept(FE_ALL_EXCEPT);
  }
  fesetround(FE_TONEAREST);
  printf("changed %llu\n", static_cast<unsigned long long>(changed));
}

// R11: before and after main.
struct Around {
  Around() { visit_for_a_while(10); }
  ~Around() {
    visit_for_a_while(10);
    printf("passes %llu\n", static_cast<unsigned long long>(passes.load()));
    fflush(stdout);
  }
};
Around around;

// R2: counts for ever, one iteration per line of the trace.
void for_ever() {
  for (;;) visit(shared_number);
}

}  // namespace

// R12: an instrumented allocator.
#ifdef OWN_ALLOCATOR
extern "C" void* __libc_malloc(size_t);
extern "C" void __libc_free(void*);
extern "C" void* malloc(size_t bytes) {
  if (bytes % 2 == 0) shared_number = shared_number + 1;
  return __libc_malloc(bytes);
}
extern "C" void free(void* memory) {
  if (memory != nullptr) shared_number = shared_number + 1;
  __libc_free(memory);
}
#endif

int main(int argc, char** argv) {
  const auto number = [&](int i) { return argc > i ? atoi(argv[i]) : 0; };
  const char* const what = argc > 1 ? argv[1] : "";
  const char* const how = argc > 2 ? argv[2] : "";
  if (strcmp(what, "unsafe") == 0) unsafe(how);
  if (strcmp(what, "signals") == 0) signals(number(2));
  if (strcmp(what, "children") == 0) children(number(2));
  if (strcmp(what, "reuse") == 0) reuse(how);
  if (strcmp(what, "threads") == 0) threads(number(2), number(3));
  if (strcmp(what, "modules") == 0) modules(number(2), argv[3], argv[4]);
  if (strcmp(what, "crowd") == 0) crowd(how);
  if (strcmp(what, "survivor") == 0) survivor();
  if (strcmp(what, "later") == 0) later(how, argv[3]);
  if (strcmp(what, "broken") == 0) broken(how);
  if (strcmp(what, "small_stack") == 0) own_small_stack();
  if (strcmp(what, "invisible") == 0) invisible();
  if (strcmp(what, "for_ever") == 0) for_ever();
  if (strcmp(what, "fail") == 0) fail(how);
  return 0;
}
