// R2: however a process dies, every completed event is in the file.

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <exception>
#include <random>
#include <stdexcept>
#include <thread>

#include "../forbidden.h"
#include "recorded.h"

namespace {

using recorded::fail;
using telltale::st::sink_control;

constexpr int kMostThreads = 4;
// The number of events that a thread has completed, in memory that outlives it. The event comes
// first, then the count.
struct Progress {
  std::atomic<uint64_t> events[kMostThreads];
  std::atomic<uint32_t> tids[kMostThreads];
};
Progress* progress = nullptr;

void pass(int thread, uint64_t i) {
  if (i % 8 == 7) {
    TELLTALE_VALUE("a logged variable whose text is longer than one record",
                   i * 0x1'0000'0000U + 1);
  } else {
    TELLTALE_STEP("step");
  }
  progress->events[thread].store(i + 1, std::memory_order_relaxed);
}

void run(int thread, uint64_t events) {
  progress->tids[thread] = static_cast<uint32_t>(gettid());
  for (uint64_t i = 0; i < events; ++i) pass(thread, i);
}

// `allowed`: events per thread that may be in the file although they are not counted.
void check(const recorded::Folder& folder, int threads, uint64_t allowed, const char* what) {
  const auto files = folder.files();
  if (files.empty()) {
    for (int i = 0; i < threads; ++i) {
      if (progress->events[i] != 0) fail("%s: events, but no file", what);
    }
    return;
  }
  if (files.size() != 1) fail("%s: %zu files", what, files.size());
  const recorded::File file = recorded::read_file(files[0]);
  if (file.torn != 0 || file.unnamed != 0 || file.all_lost() != 0) {
    fail("%s: %zu torn, %zu unnamed, %zu lost", what, size_t{file.torn}, size_t{file.unnamed},
         size_t{file.all_lost()});
  }
  auto by_thread = recorded::by_thread(file);
  for (int i = 0; i < threads; ++i) {
    const uint64_t passed = progress->events[i];
    const auto& hits = by_thread[progress->tids[i]];
    if (progress->tids[i] == 0) continue;
    if (hits.size() < passed || hits.size() > passed + allowed) {
      fail("%s: thread %d got past %zu events, %zu are in the file", what, i, size_t{passed},
           hits.size());
    }
    for (size_t k = 0; k < hits.size(); ++k) {
      if (k > 0 && hits[k].sequence <= hits[k - 1].sequence)
        fail("%s: a sequence number twice", what);
      const std::string expected = k % 8 == 7 ? std::to_string(k * 0x1'0000'0000U + 1) : "";
      if (hits[k].text != expected) fail("%s: event %zu says '%s'", what, k, hits[k].text.c_str());
    }
  }
}

template <typename F>
int in_child(F&& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    body();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) fail("no child");
  return status;
}

void kill_loops(long loops) {
  std::minstd_rand random(1);
  for (long loop = 0; loop < loops; ++loop) {
    const recorded::Folder folder;
    std::memset(static_cast<void*>(progress), 0, sizeof(*progress));
    const int threads = 1 + static_cast<int>(loop % kMostThreads);
    const pid_t child = fork();
    if (child == 0) {
      telltale::st::FileOptions options;
      options.clock_every = loop % 3 == 0 ? 16 : 1;
      recorded::open_file(folder, options);
      for (int i = 1; i < threads; ++i) std::thread(run, i, UINT64_MAX).detach();
      run(0, UINT64_MAX);
    }
    usleep(static_cast<useconds_t>(random() % 8000));
    kill(child, SIGKILL);
    if (waitpid(child, nullptr, 0) != child) fail("no child");
    check(folder, threads, 1, "SIGKILL");
  }
}

[[gnu::noinline]] int overflow(volatile char* outer, long depth) {
  volatile char here[4096];
  here[0] = outer[0];
  return depth == 0 ? 0 : overflow(here, depth - 1) + here[0];
}

void die(const std::string& how) {
  if (how == "exit") std::exit(0);
  if (how == "_exit") _exit(0);
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "abort") std::abort();
  if (how == "SIGTERM") raise(SIGTERM);
  if (how == "SIGSEGV")
    *reinterpret_cast<volatile int*>((uintptr_t{progress->events[0]} & 1U) * 8 + 8) = 1;
  if (how == "SIGBUS") raise(SIGBUS);
  if (how == "SIGFPE") raise(SIGFPE);
  if (how == "SIGILL") __builtin_trap();
  if (how == "SIGKILL") raise(SIGKILL);
  if (how == "terminate") std::terminate();
  if (how == "overflow") {
    volatile char first = 0;
    overflow(&first, 1L << 40);
  }
}

void death_kinds(long times) {
  for (const char* how : {"exit", "_exit", "exec", "abort", "SIGTERM", "SIGSEGV", "SIGBUS",
                          "SIGFPE", "SIGILL", "SIGKILL", "terminate", "overflow"}) {
    for (long i = 0; i < times; ++i) {
      const recorded::Folder folder;
      std::memset(static_cast<void*>(progress), 0, sizeof(*progress));
      in_child([&] {
        std::freopen("/dev/null", "w", stderr);
        recorded::open_file(folder);
        run(0, 1000 + static_cast<uint64_t>(i) * 77);
        die(how);
      });
      check(folder, 1, 0, how);
      if (progress->events[0] != 1000 + static_cast<uint64_t>(i) * 77)
        fail("%s: it died too early", how);
    }
  }
}

// A ring in memory is written when the process crashes, which it does as without the recorder.
void crash_dumps() {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) {
    const recorded::Folder folder;
    const std::string dump = folder.path + "/dump.tlg";
    std::memset(static_cast<void*>(progress), 0, sizeof(*progress));
    const int status = in_child([&] {
      telltale::st::RingOptions options;
      options.bytes = 1U << 20;
      options.dump_on_crash = dump.c_str();
      if (sink_control::open(options) < 0) fail("no ring");
      // Until the end, including the handler.
      const forbidden::Stretch stretch;
      run(0, 2000);
      raise(number);
    });
    if (!WIFSIGNALED(status) || WTERMSIG(status) != number)
      fail("signal %d became status %d", number, status);
    check(folder, 1, 0, "crash dump");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) fail("no memory");
  if (what == "kill") kill_loops(recorded::how_many(60, 1000));
  if (what == "kinds") death_kinds(recorded::how_many(2, 20));
  if (what == "crash_dump") crash_dumps();
  std::printf("ok %s\n", what.c_str());
  return 0;
}
