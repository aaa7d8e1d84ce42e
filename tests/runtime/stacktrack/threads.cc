// R1, R4, R15: threads that start, end and stay, signals inside events; recorded and lost events
// are all events.

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <random>
#include <thread>

#include "../forbidden.h"
#include "recorded.h"

namespace {

using recorded::fail;
using telltale::st::sink_control;

// `unique`: all sequence numbers differ. An event and those of a signal handler that interrupts it
// may share one.
void expect_all(const recorded::Folder& folder, uint64_t emitted, const char* what,
                bool unique = true) {
  uint64_t found = 0;
  for (const std::string& path : folder.files()) {
    const recorded::File file = recorded::read_file(path);
    if (file.torn + file.unnamed != 0)
      fail("%s: %zu torn, %zu unnamed", what, size_t{file.torn}, size_t{file.unnamed});
    if (file.headers == 0) fail("%s: %s begins without PROLOGUE", what, path.c_str());
    found += file.hits.size() + file.all_lost();
    for (size_t i = 1; i < file.hits.size(); ++i) {
      const recorded::Hit& hit = file.hits[i];
      const recorded::Hit& last = file.hits[i - 1];
      if (unique && hit.tid == last.tid && hit.sequence == last.sequence) {
        fail("%s: %zu twice: '%s' of time %zu, '%s' of time %zu", what, size_t{hit.sequence},
             file.names.at(last.scope).c_str(), size_t{last.when}, file.names.at(hit.scope).c_str(),
             size_t{hit.when});
      }
    }
  }
  if (found != emitted)
    fail("%s: %zu recorded and lost of %zu", what, size_t{found}, size_t{emitted});
}

struct AtEnd {
  ~AtEnd() { TELLTALE_STEP("destructor of a thread_local"); }
};
pthread_key_t key;
void end_of_key(void* rounds) {
  TELLTALE_STEP("destructor of a key");
  const auto left = reinterpret_cast<intptr_t>(rounds) - 1;
  if (left != 0) pthread_setspecific(key, reinterpret_cast<void*>(left));
}

size_t resident_kib() {
  size_t pages = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%*s %zu", &pages) != 1) fail("statm");
  std::fclose(file);
  return pages * 4;
}

void* short_life(void*) {
  thread_local AtEnd at_end;
  (void)at_end;
  pthread_setspecific(key, reinterpret_cast<void*>(4));
  TELLTALE_STEP("short");
  return nullptr;
}

void run_thread(void* (*body)(void*), void* argument = nullptr) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, body, argument) != 0) fail("pthread_create");
  pthread_join(thread, nullptr);
}

// Threads that start and end reuse the same few nodes and chunks, and record until their very end.
void short_threads(long count) {
  const recorded::Folder folder;
  pthread_key_create(&key, end_of_key);
  recorded::open_file(folder);
  for (long i = 0; i < count / 10; ++i) run_thread(short_life);
  const size_t before = resident_kib();
  for (long i = 0; i < count; ++i) run_thread(short_life);
  const size_t after = resident_kib();
  sink_control::close();
  expect_all(folder, static_cast<uint64_t>(count + count / 10) * 6, "short threads");
  // The data that they wrote is resident, too, as long as it is mapped.
  if (after > before + before / 2 + 2048)
    fail("%zu KiB after %ld threads, %zu before", after, count, before);
}

pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
void* stay(void*) {
  TELLTALE_STEP("stays");
  pthread_rwlock_rdlock(&gate);
  pthread_rwlock_unlock(&gate);
  TELLTALE_STEP("leaves");
  return nullptr;
}

void live_threads(long count) {
  const recorded::Folder folder;
  recorded::open_file(folder);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32768);
  pthread_rwlock_wrlock(&gate);
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, &attributes, stay, nullptr) != 0) fail("pthread_create");
  }
  pthread_rwlock_unlock(&gate);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  sink_control::close();
  expect_all(folder, static_cast<uint64_t>(count) * 2, "live threads");
}

std::atomic<uint64_t> passed{0};
void* until_cancelled(void*) {
  for (;;) {
    TELLTALE_FUNCTION();
    ++passed;
    pthread_testcancel();
  }
}

// A cancelled thread leaves its scope; the library itself has no cancellation point.
void cancelled() {
  const recorded::Folder folder;
  recorded::open_file(folder);
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, until_cancelled, nullptr);
    usleep(200);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  sink_control::close();
  expect_all(folder, passed * 2, "cancelled threads");
}

std::atomic<uint64_t> in_handler{0};
void handle(int) {
  const int before = errno;
  const forbidden::Stretch stretch;
  TELLTALE_STEP("in a handler");
  TELLTALE_VALUE("in a handler too", 7);
  if (errno != before) fail("errno changed");
  in_handler.fetch_add(2, std::memory_order_relaxed);
}

timer_t start_timer(long period_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = static_cast<int>(gettid());
  timer_t timer{};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) fail("timer_create");
  const itimerspec period{{0, period_ns}, {0, period_ns}};
  timer_settime(timer, 0, &period, nullptr);
  return timer;
}

// Two threads, interrupted ten thousand times a second; rings, so that chunks change all the time.
void signals(long milliseconds, uint64_t ring_bytes, uint32_t clock_every) {
  const recorded::Folder folder;
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  telltale::st::FileOptions options;
  options.ring_bytes = ring_bytes;
  options.clock_every = clock_every;
  recorded::open_file(folder, options);
  in_handler = 0;
  std::atomic<uint64_t> outside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const timer_t timer = start_timer(100'000);
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
      uint64_t count = 0;
      // Fewer events for a growing file, which would fill the disk.
      while (std::chrono::steady_clock::now() < end) {
        {
          const forbidden::Stretch stretch;
          for (int k = 0; k < (ring_bytes == 0 ? 20 : 500); ++k, ++count) TELLTALE_STEP("outside");
        }
        if (ring_bytes == 0) usleep(50);
      }
      timer_delete(timer);
      outside += count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  sink_control::close();
  const auto lost_now = sink_control::statistics();
  if (in_handler == 0) fail("no signal came");
  if (lost_now.reentered != 0) fail("%zu re-entered", size_t{lost_now.reentered});
  expect_all(folder, outside + in_handler, "signals", false);
}

// R15: recorded and lost events are all emitted events, whatever is done to the sinks.
void accounting(unsigned seed) {
  std::minstd_rand random(seed);
  const recorded::Folder folder;
  telltale::st::FileOptions options;
  const unsigned policy = seed % 5;
  if (policy == 1) options.ring_bytes = 1U << (16 + random() % 4);
  if (policy == 2) options.rotate_bytes = 1U << 18;
  if (policy == 3) options.clock_every = 16;
  if (policy == 4) options.sequence = telltale::st::Sequence::count;
  recorded::open_file(folder, options);
  const int threads = 1 + static_cast<int>(random() % 6);
  std::atomic<uint64_t> emitted{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, events = uint64_t{random() % 20000}] {
      for (uint64_t k = 0; k < events; ++k) {
        if (k % 10 == 3) {
          TELLTALE_VALUE("text", std::string(k % 100, 'x'));
        } else {
          TELLTALE_STEP("step");
        }
      }
      emitted += events;
    });
  }
  for (int i = 0; i < 5; ++i) {
    usleep(500);
    sink_control::next_cycle();
    if (sink_control::flush() != 0) fail("flush");
  }
  for (std::thread& thread : running) thread.join();
  sink_control::close();
  expect_all(folder, emitted, ("policy " + std::to_string(policy)).c_str());
}

// Threads record while sinks open and close: records stay whole, and nothing is written to a closed
// sink.
void reconfigured() {
  const recorded::Folder folder;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        TELLTALE_FUNCTION();
        TELLTALE_VALUE("value", "some text that needs two records");
      }
    });
  }
  static std::atomic<uint64_t> called{0};
  for (int i = 0; i < 60; ++i) {
    telltale::st::FileOptions options;
    options.ring_bytes = i % 2 == 0 ? 0 : 1U << 18;
    const int file = recorded::open_file(folder, options);
    const int ring = sink_control::open(telltale::st::RingOptions{});
    telltale::st::CallbackOptions callback;
    callback.callback = [](const void*, size_t count, void*) { called += count; };
    const int back = i % 3 == 0 ? sink_control::open(callback) : -1;
    if (ring < 0) fail("no ring");
    usleep(1000);
    if (sink_control::close(i % 2 == 0 ? file : ring) != 0) fail("close");
    if (sink_control::close(i % 2 == 0 ? ring : file) != 0) fail("close");
    if (back >= 0 && sink_control::close(back) != 0) fail("close");
    const uint64_t then = called;
    usleep(100);
    if (called != then) fail("a closed callback was called");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t hits = 0;
  for (const std::string& path : folder.files()) {
    const recorded::File file = recorded::read_file(path);
    if (file.torn + file.unnamed != 0) {
      fail("%s: %zu torn, %zu unnamed of %zu", path.c_str(), size_t{file.torn},
           size_t{file.unnamed}, file.hits.size());
    }
    hits += file.hits.size();
  }
  if (hits == 0 || called == 0) fail("nothing was recorded");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  using recorded::how_many;
  if (what == "short") short_threads(how_many(3000, 100'000));
  if (what == "live") live_threads(how_many(1000, 10'000));
  if (what == "cancelled") cancelled();
  if (what == "signals") {
    const long milliseconds = how_many(300, 2000);
    signals(milliseconds, 1U << 18, 1);
    signals(milliseconds, 1U << 18, 16);
    signals(milliseconds, 0, 1);
  }
  if (what == "unsafe") {
    const forbidden::Stretch stretch;
    int* volatile number = new int;
    delete number;
  }
  if (what == "accounting") {
    for (long seed = 0; seed < how_many(15, 150); ++seed) accounting(static_cast<unsigned>(seed));
  }
  if (what == "reconfigured") reconfigured();
  std::printf("ok %s\n", what.c_str());
  return 0;
}
