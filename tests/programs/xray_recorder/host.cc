// Programs that telltale's recorder is tried in, chosen by the first argument. Each prints one line
// of JSON: how often it called which instrumented function ("calls"), and what else the test wants
// to know.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../runtime/forbidden.h"

#define INSTRUMENTED [[clang::xray_always_instrument]] __attribute__((noinline))

extern char** environ;

#if defined(WITHOUT_CLANGS_RUNTIME)
// The target of event sleds. The recorder redirects them to itself.
extern "C" void __xray_CustomEvent() {}
extern "C" void __xray_TypedEvent() {}
#endif

namespace {

std::atomic<uint64_t> leaf_calls{0};
std::atomic<uint64_t> handler_calls{0};
std::map<std::string, uint64_t> told;

void print_told() {
  std::printf("{\"pid\": %d, \"calls\": {\"leaf\": %llu, \"handler\": %llu}", getpid(),
              static_cast<unsigned long long>(leaf_calls),
              static_cast<unsigned long long>(handler_calls));
  for (const auto& [key, value] : told)
    std::printf(", \"%s\": %llu", key.c_str(), static_cast<unsigned long long>(value));
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

INSTRUMENTED int leaf(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
INSTRUMENTED int handler(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
[[clang::xray_always_instrument, clang::xray_log_args(1)]] __attribute__((noinline)) long logged(
    long x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
INSTRUMENTED int descend(int depth) {
  asm volatile("" : "+r"(depth));
  if (depth == 0) return 0;
  int below = descend(depth - 1);
  asm volatile("" : "+r"(below));  // else this becomes a loop
  return below + 1;
}
INSTRUMENTED int throw_below(int depth) {
  if (depth == 0) throw depth;
  int below = throw_below(depth - 1);
  asm volatile("" : "+r"(below));
  return below + 1;
}
INSTRUMENTED void slow() {
  const timespec pause{0, 2'000'000};
  nanosleep(&pause, nullptr);
}
INSTRUMENTED void say(const char* text, size_t bytes) { __xray_customevent(text, bytes); }
// Arguments in other registers than the event needs, crosswise: clang's moves overwrite one
// another.
INSTRUMENTED void say_crosswise(size_t bytes, const char* text) { __xray_customevent(text, bytes); }
INSTRUMENTED void type(const char* text, size_t bytes) { __xray_typedevent(77, text, bytes); }
INSTRUMENTED void type_turned(const char* text, size_t bytes, size_t kind) {
  __xray_typedevent(kind, text, bytes);
}
INSTRUMENTED void overflow(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  overflow(here);
  here[1] = here[0];
}

namespace {

void call_leaf(uint64_t times) {
  const forbidden::Stretch stretch;
  for (uint64_t i = 0; i < times; ++i) leaf(static_cast<int>(i));
  leaf_calls += times;
}

int calls(int threads, uint64_t times) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([=] { call_leaf(times); });
  for (std::thread& one : all) one.join();
  for (long i = 0; i < 10; ++i) logged(i * 1'000'000'000'000'000'007);
  descend(1000);
  for (int i = 0; i < 3; ++i) {
    try {
      throw_below(5);
    } catch (int) {
    }
  }
  slow();
  return 0;
}

int events() {
  say("hello", 5);
  say_crosswise(6, "across");
  say("", 0);
  type("typed", 5);
  type_turned("turned", 6, 1234);
  leaf(1);
  ++leaf_calls;
  return 0;
}

// Two events that do not fit a buffer of 4 KiB, between two that do.
int large_events() {
  static const char text[5000] = {};
  say("before", 6);
  say(text, sizeof(text));
  type(text, sizeof(text));
  say("behind", 6);
  return 0;
}

// A timer for each of two threads that interrupts them ten thousand times a second, to call what is
// recorded too.
void on_timer(int) {
  const forbidden::Stretch stretch;
  handler(1);
  handler_calls.fetch_add(1, std::memory_order_relaxed);
}
void start_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec often{{0, 100'000}, {0, 100'000}};
  timer_settime(timer, 0, &often, nullptr);
}
int signals(uint64_t milliseconds) {
  struct sigaction action{};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  const auto work = [=] {
    start_timer();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t end =
        static_cast<uint64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000 + milliseconds;
    do {
      call_leaf(1000);
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while (static_cast<uint64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000 < end);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  };
  std::thread second(work);
  work();
  second.join();
  return 0;
}

// Writes the number of completed calls to a shared page, for the process that kills it.
int until_killed(const char* shared, int threads) {
  const int file = open(shared, O_RDWR);
  auto* const done = static_cast<volatile uint64_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([=] {
      while (true) {
        leaf(i);
        done[8 * i] = done[8 * i] + 1;
      }
    });
  }
  for (std::thread& one : all) one.join();
  return 0;
}

void die(const std::string& how) {
  call_leaf(1000);
  print_told();
  if (how == "unsafe") {
    const forbidden::Stretch stretch;
    void* volatile memory = std::malloc(1);
    std::free(memory);
  }
  if (how == "exit") exit(3);
  if (how == "_exit") _exit(3);
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "abort") abort();
  const forbidden::Stretch stretch;  // to the end, including all handlers
  if (how == "segv") *reinterpret_cast<volatile int*>(16) = 1;
  if (how == "bus") raise(SIGBUS);
  if (how == "fpe") asm volatile("xorl %%ecx, %%ecx\n idivl %%ecx" : : : "rax", "rcx", "rdx");
  if (how == "ill") __builtin_trap();
  if (how == "term") raise(SIGTERM);
  if (how == "kill") raise(SIGKILL);
  if (how == "terminate") std::terminate();
  if (how == "overflow") {
    char top = 0;
    overflow(&top);
  }
  if (how == "thread_overflow") {
    std::thread([] {
      leaf(1);
      char top = 0;
      overflow(&top);
    }).join();
  }
  if (how == "crowd") {
    static std::atomic<int> ready{0};
    std::vector<std::thread> all;
    for (int i = 0; i < 20; ++i) {
      all.emplace_back([] {
        leaf(1);
        ++ready;
        while (ready < 20) sched_yield();
        *reinterpret_cast<volatile int*>(16) = 1;
      });
    }
    for (std::thread& one : all) one.join();
  }
}

int forks(int children) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      while (!stop) call_leaf(100);
    });
  }
  uint64_t failed = 0;
  for (int i = 0; i < children; ++i) {
    const pid_t child = i % 2 == 0 ? fork() : static_cast<pid_t>(syscall(SYS_fork));
    if (child == 0) {
      const forbidden::Stretch stretch;
      for (int j = 0; j < 50; ++j) leaf(j);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  pid_t spawned;
  if (posix_spawn(&spawned, "/bin/true", nullptr, nullptr, arguments, environ) == 0)
    waitpid(spawned, nullptr, 0);
  const pid_t borrowed = vfork();
  if (borrowed == 0) _exit(0);
  waitpid(borrowed, nullptr, 0);
  stop = true;
  for (std::thread& one : all) one.join();
  told["failed"] = failed;
  return 0;
}

// Closes all descriptors, as daemons do; then opens files that no one else must write to.
int reuse_descriptors(const char* folder) {
  call_leaf(100);
  syscall(SYS_close_range, 3, ~0U, 0);
  std::vector<int> files;
  for (int i = 0; i < 600; ++i)
    files.push_back(
        open((std::string(folder) + "/own." + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600));
  call_leaf(500'000);
  uint64_t changed = 0;
  for (const int file : files) changed += file < 0 || lseek(file, 0, SEEK_END) != 0;
  told["changed"] = changed;
  return 0;
}

struct LateEvents {
  ~LateEvents() {
    leaf(1);
    ++leaf_calls;
  }
};
pthread_key_t late_key;
void late_destructor(void* rounds) {
  leaf(2);
  ++leaf_calls;
  const auto left = reinterpret_cast<uintptr_t>(rounds) - 1;
  if (left != 0) pthread_setspecific(late_key, reinterpret_cast<void*>(left));
}
// Without the recording's own pages, which are mapped and resident while it grows.
uint64_t resident_kib() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long size = 0;
  unsigned long resident = 0;
  unsigned long of_files = 0;
  if (std::fscanf(file, "%lu %lu %lu", &size, &resident, &of_files) != 3) resident = 0;
  std::fclose(file);
  return (resident - of_files) * 4;
}
int threads(int alive, int short_ones) {
  pthread_key_create(&late_key, late_destructor);
  std::atomic<bool> stop{false};
  std::vector<pthread_t> all;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  static std::atomic<int> begun{0};
  for (int i = 0; i < alive; ++i) {
    pthread_t thread;
    const int failed = pthread_create(
        &thread, &small,
        [](void* stop_flag) -> void* {
          call_leaf(3);
          ++begun;
          while (!*static_cast<std::atomic<bool>*>(stop_flag)) usleep(300'000);
          call_leaf(2);
          return nullptr;
        },
        &stop);
    if (failed == 0) all.push_back(thread);
  }
  while (begun < static_cast<int>(all.size())) usleep(1000);
  stop = true;
  for (const pthread_t thread : all) pthread_join(thread, nullptr);
  told["alive"] = all.size();
  const auto churn = [](int count) {
    for (int i = 0; i < count; ++i) {
      std::thread([] {
        static thread_local LateEvents late;
        (void)&late;
        pthread_setspecific(late_key, reinterpret_cast<void*>(uintptr_t{3}));
        call_leaf(4);
      }).join();
    }
  };
  churn(short_ones / 10);
  told["resident_before"] = resident_kib();
  churn(short_ones);
  told["resident_after"] = resident_kib();
  pthread_t cancelled;
  pthread_create(
      &cancelled, nullptr,
      [](void*) -> void* {
        call_leaf(5);
        while (true) pause();
      },
      nullptr);
  usleep(10'000);
  pthread_cancel(cancelled);
  pthread_join(cancelled, nullptr);
  return 0;
}

// Loads, calls and unloads libraries alternately.
int plugins(int times, int count, char** paths) {
  uint64_t called = 0;
  std::map<void*, int> places;
  for (int i = 0; i < times; ++i) {
    void* const library = dlopen(paths[i % count], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto* const function = reinterpret_cast<int (*)(int)>(dlsym(library, "plugin"));
    ++places[reinterpret_cast<void*>(function)];
    called += function(1) == 2;
    dlclose(library);
  }
  told["plugin"] = called;
  told["places"] = places.size();
  return 0;
}

template <int number>
INSTRUMENTED void numbered() {
  volatile int kept = number;
  kept = kept + 1;
}
template <int... numbers>
constexpr std::array<void (*)(), sizeof...(numbers)> all_numbered(
    std::integer_sequence<int, numbers...>) {
  return {numbered<numbers>...};
}
constexpr auto kNumbered = all_numbered(std::make_integer_sequence<int, 1000>{});

// Children that are created while threads call functions for the first time, and which do the same
// themselves.
int first_calls_in_children(int children) {
  std::atomic<size_t> next{0};
  std::atomic<int> made{0};
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      // Must not run before the children are created.
      while (made < children && next < kNumbered.size() / 2) {
        kNumbered[next++ % kNumbered.size()]();
        if (next > static_cast<size_t>(made + 1) * kNumbered.size() / 2 / children) usleep(50);
      }
    });
  }
  uint64_t failed = 0;
  for (; made < children; ++made) {
    const auto child = static_cast<pid_t>(syscall(SYS_fork));
    if (child == 0) {
      for (size_t i = 0; i < 10; ++i) kNumbered[kNumbered.size() / 2 + i]();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  for (std::thread& one : all) one.join();
  told["failed"] = failed;
  return 0;
}

// A child whose first events are from a library that it loads itself.
int plugin_in_child(char* path) {
  call_leaf(10);
  const pid_t child = fork();
  if (child == 0) _exit(plugins(1, 1, &path));
  int status = 0;
  waitpid(child, &status, 0);
  told["failed"] = status != 0;
  return 0;
}

// An entry that is not patched begins with a jump over the rest of its sled.
template <typename Function>
bool is_patched(Function* function) {
  uint16_t first;
  std::memcpy(&first, reinterpret_cast<const void*>(function), sizeof(first));
  return first != 0x09eb;
}
int patched() {
  call_leaf(1);
  told["leaf_patched"] = is_patched(leaf);
  told["slow_patched"] = is_patched(slow);
  return 0;
}

void on_host_signal(int) { ++told["host_signals"]; }

// What a program observes of signals that it handles, or does not, with a recorder.
int host_signals() {
  struct sigaction old{};
  uint64_t preset = 0;
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGUSR1, SIGTERM, SIGPIPE}) {
    sigaction(signal, nullptr, &old);
    preset += old.sa_handler != SIG_DFL;
  }
  told["preset"] = preset;
  struct sigaction ours{};
  ours.sa_handler = on_host_signal;
  for (const int signal : {SIGUSR1, SIGUSR2, SIGBUS, SIGABRT, SIGTERM})
    sigaction(signal, &ours, nullptr);
  call_leaf(10'000);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGBUS, SIGABRT, SIGTERM}) raise(signal);
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  told["blocked"] = sigismember(&mask, SIGUSR1) != 0;
  return 0;
}

int cut_file(const char* path) {
  call_leaf(1000);
  if (truncate(path, 100) != 0) return 1;
  call_leaf(1'000'000);
  return 0;
}

struct Early {
  Early() {
    leaf(1);
    ++leaf_calls;
  }
  ~Early() { leaf(2); }
};
Early early;

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return i < argc ? std::atoi(argv[i]) : 1; };
  int status = 2;
  if (what == "calls") status = calls(number(2), static_cast<uint64_t>(number(3)));
  if (what == "events") status = events();
  if (what == "large_events") status = large_events();
  if (what == "patched") status = patched();
  if (what == "signals") status = signals(static_cast<uint64_t>(number(2)));
  if (what == "until_killed") status = until_killed(argv[2], number(3));
  if (what == "die") die(argv[2]);
  if (what == "forks") status = forks(number(2));
  if (what == "first_calls_in_children") status = first_calls_in_children(number(2));
  if (what == "plugin_in_child") status = plugin_in_child(argv[2]);
  if (what == "reuse_descriptors") status = reuse_descriptors(argv[2]);
  if (what == "threads") status = threads(number(2), number(3));
  if (what == "plugins") status = plugins(number(2), argc - 3, argv + 3);
  if (what == "host_signals") status = host_signals();
  if (what == "cut_file") status = cut_file(argv[2]);
  print_told();
  return status;
}
