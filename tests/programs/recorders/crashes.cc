// R7: how a process ends if much goes wrong at once. `crashes file|memory RECORDING WHAT END`.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "event.h"

namespace {

[[noreturn]] void end(const std::string& how) {
  if (how == "segv") *reinterpret_cast<volatile char*>(16) = 1;
  if (how == "fpe") asm volatile("xorl %%ecx, %%ecx\n idivl %%ecx" : : : "rax", "rcx", "rdx");
  if (how == "ill") asm volatile("ud2");
  std::abort();
}

// Twenty threads that crash at the same moment.
void crowd(const std::string& how) {
  static std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      events(50);
      ++ready;
      while (ready < 20) sched_yield();
      end(how);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// While one thread flushes the recording to the disk repeatedly, and another records.
void while_flushing(const std::string& how, const std::string& path) {
  std::atomic<int> flushed{0};
  std::atomic<int> recorded{0};
  std::thread flushing([&] {
    for (;; ++flushed) flush(path + ".flushed." + std::to_string(flushed));
  });
  std::thread recording([&] {
    for (;; ++recorded) events(10);
  });
  while (recorded < 100 || flushed < 3) usleep(1000);
  end(how);
}

__attribute__((no_instrument_function)) int overflow(const volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return overflow(here) + here[0];
}
// R8: the stack of the main thread, or of one with the smallest possible stack.
void overflow_stack(bool in_thread) {
  const char top = 0;
  if (!in_thread) std::exit(overflow(&top));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{64} * 1024);
  pthread_t thread;
  pthread_create(
      &thread, &attributes,
      [](void* text) -> void* {
        events(7);
        std::exit(overflow(static_cast<char*>(text)));
      },
      const_cast<char*>(&top));
  pthread_join(thread, nullptr);
}

// R10: somebody cuts the recording that two threads write to, and the program lives. They wait
// meanwhile. `again`: and makes it as long as it was.
[[noreturn]] void cut(const std::string& path, off_t bytes, bool again) {
  std::atomic<bool> is_cut{false};
  std::atomic<int> waiting{0};
  std::atomic<uint64_t> emitted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      // `again`: all of them in what the thread looks at.
      for (int left = again ? 100 : 2500; left > 0; --left, ++emitted) event();
      ++waiting;
      while (!is_cut) usleep(100);
      for (int left = 20'000; left > 0; --left, ++emitted) event();
    });
  }
  while (waiting < 2) usleep(100);
  struct stat before{};
  if (stat(path.c_str(), &before) != 0 || truncate(path.c_str(), bytes) != 0) std::_Exit(51);
  if (again && truncate(path.c_str(), before.st_size) != 0) std::_Exit(52);
  is_cut = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%llu %llu\n", static_cast<unsigned long long>(emitted.load()),
              static_cast<unsigned long long>(lost_events()));
  std::exit(0);
}

struct Range {
  uintptr_t begin;
  uintptr_t end;
};
struct Ranges {
  Range all[400];
  int count;
};
// What can be written and belongs to no file but recordings. Nothing is allocated meanwhile.
void read_ranges(Ranges& ranges, const char* recording) {
  static char text[1 << 16];
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t bytes = 0;
  for (ssize_t part = 1; (part = read(file, text + bytes, sizeof(text) - 1 - bytes)) > 0;)
    bytes += static_cast<size_t>(part);
  close(file);
  text[bytes] = '\0';
  ranges.count = 0;
  for (char* line = strtok(text, "\n"); line != nullptr && ranges.count < 400;
       line = strtok(nullptr, "\n")) {
    unsigned long begin = 0;
    unsigned long to = 0;
    char mode[8];
    int name = 0;
    if (std::sscanf(line, "%lx-%lx %7s %*s %*s %*s%n", &begin, &to, mode, &name) < 3) continue;
    const char* const path = strchr(line + name, '/');
    const bool wanted = recording != nullptr ? path != nullptr && strcmp(path, recording) == 0
                                             : path == nullptr && strchr(line, '[') == nullptr;
    if (mode[1] == 'w' && wanted) ranges.all[ranges.count++] = {begin, to};
  }
}

// All memory that the recorder has got since it started is filled with what is none of its own.
void scribble(unsigned seed, const Ranges& before) {
  static Ranges now;
  read_ranges(now, nullptr);
  std::srand(seed);
  for (int i = 0; i < now.count; ++i) {
    for (uintptr_t page = now.all[i].begin; page < now.all[i].end; page += 4096) {
      bool old = false;
      for (int k = 0; k < before.count; ++k)
        old = old || (page >= before.all[k].begin && page < before.all[k].end);
      // A reserve of the recorder may be gigabytes that were never touched.
      if (old || page - now.all[i].begin > (1U << 20)) continue;
      auto* const words = reinterpret_cast<uint64_t*>(page);
      for (int word = 0; word < 512; ++word) {
        const auto bits = static_cast<uint64_t>(std::rand());
        words[word] = seed % 2 == 0 ? ~uint64_t{0} : bits << 33 | bits;
      }
    }
  }
}

// In the file, what each chunk begins with; the file's own beginning is left.
void scribble_headers(const std::string& path) {
  static Ranges mapped;
  read_ranges(mapped, path.c_str());
  for (int i = 0; i < mapped.count; ++i) {
    for (int page = 1; page < 12; page += 2) {
      const uintptr_t at = mapped.all[i].begin + static_cast<uintptr_t>(page) * 4096;
      if (at < mapped.all[i].end) std::memset(reinterpret_cast<void*>(at), 0xA5, 48);
    }
  }
}

// What the recorder writes to when the process ends.
void unmap(const std::string& path) {
  static Ranges mapped;
  read_ranges(mapped, path.c_str());
  for (int i = 0; i < mapped.count; ++i)
    munmap(reinterpret_cast<void*>(mapped.all[i].begin), mapped.all[i].end - mapped.all[i].begin);
}

}  // namespace

int main(int, char** argv) {
  const std::string path = argv[2];
  const std::string what = argv[3];
  const std::string how = argv[4];
  static Ranges before;
  read_ranges(before, nullptr);
  // "open": the environment has opened it.
  if (std::string(argv[1]) != "open" && !start(path, std::string(argv[1]) == "memory")) return 50;
  events(1);
  if (what == "crowd") crowd(how);
  if (what == "flush") while_flushing(how, path);
  if (what == "overflow" || what == "thread_overflow") {
    events(50);
    overflow_stack(what == "thread_overflow");
  }
  if (what == "cut" || what == "cut_and_again")
    cut(recording(), std::atoll(argv[4]), what == "cut_and_again");
  events(3000);
  if (what == "headers") {
    scribble_headers(path);
    events(3000);
  }
  if (what == "unmapped") unmap(recording() + ".side");
  if (what.compare(0, 8, "scribble") == 0)
    scribble(static_cast<unsigned>(std::atoi(what.c_str() + 8)), before);
  end(how);
}
