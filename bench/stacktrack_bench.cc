// The cost of a StackTrack checkpoint, relative to a counter read in the same run. Thread CPU time,
// cases alternately, the minimum of nine: docs/design/stacktrack-runtime.md has the budgets. Checks
// the recording first. Built twice: with inlined recording (stacktrack_bench), and through the
// shared library (stacktrack_shared_bench).

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <telltale/stacktrack.hpp>
#include <vector>

#include "formats/stacktrack/wire.h"

namespace {

using telltale::st::FileOptions;
using telltale::st::RingOptions;
using telltale::st::sink_control;

#ifdef TELLTALE_STACKTRACK_OUT_OF_LINE
constexpr bool kShared = true;
#else
constexpr bool kShared = false;
#endif
constexpr int kRounds = 9;
constexpr uint64_t kEvents = 200'000;

uint64_t thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

[[gnu::noinline]] void read_counters(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t ticks = __rdtsc();
    asm volatile("" : "+r"(ticks));
  }
}
// As many instructions beside each reading as an event executes. If the processor overlaps them
// with the counter read, this takes no longer than reading alone; otherwise it takes both, and no
// recorder that reads the counter can be faster.
[[gnu::noinline]] void read_counters_beside_work(uint64_t n) {
#if defined(__x86_64__)
#define TELLTALE_FOUR "add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n add $1, %%r11\n"
#define TELLTALE_SIXTEEN TELLTALE_FOUR TELLTALE_FOUR TELLTALE_FOUR TELLTALE_FOUR
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t ticks = __rdtsc();
    asm volatile("" : "+r"(ticks));
    asm volatile(TELLTALE_SIXTEEN TELLTALE_SIXTEEN TELLTALE_SIXTEEN TELLTALE_SIXTEEN
                 :
                 :
                 : "r8", "r9", "r10", "r11", "cc");
  }
#else
  read_counters(n);
#endif
}
[[gnu::noinline]] void steps(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    TELLTALE_STEP("step");
    asm volatile("" ::: "memory");
  }
}
[[gnu::noinline]] void scopes(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    TELLTALE_BLOCK("scope");
    asm volatile("" ::: "memory");
  }
}
[[gnu::noinline]] void values(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) TELLTALE_VALUE("value", i);
}
[[gnu::noinline]] void nothing(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) asm volatile("" ::: "memory");
}

enum class To { nowhere, ring, file_ring, file };
struct Case {
  const char* name;
  To to;
  uint32_t clock_every;
  void (*run)(uint64_t);
  double most_ratio;  // to reading the counter beside work; 0: no budget
  double most_ns;     // 0: no budget
  double best = 1e9;
};

int open(const Case& which, const std::string& folder) {
  if (which.to == To::nowhere) return -1;
  int sink = -1;
  if (which.to == To::ring) {
    RingOptions options;
    options.bytes = 1U << 20;
    options.clock_every = which.clock_every;
    sink = sink_control::open(options);
  } else {
    FileOptions options;
    options.directory = folder.c_str();
    options.clock_every = which.clock_every;
    if (which.to == To::file_ring) options.ring_bytes = 1U << 20;
    sink = sink_control::open(options);
  }
  if (sink >= 0) return sink;
  std::fprintf(stderr, "%s: cannot open a sink: %s\n", which.name, std::strerror(-sink));
  std::exit(1);
}

struct Counts {
  uint64_t hits = 0;
  uint64_t held = 0;
  uint64_t lost = 0;
};
Counts count(const char* path) {
  using namespace telltale::stacktrack;
  Counts counts;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) return counts;
  std::vector<char> bytes(static_cast<size_t>(status.st_size));
  if (read(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return counts;
  close(file);
  for (size_t at = 0; at + wide::kEntryBytes <= bytes.size(); at += wide::kEntryBytes) {
    wide::Head head;
    std::memcpy(&head, bytes.data() + at, sizeof(head));
    if (head.pid == 0) continue;
    const auto type = static_cast<RecordType>(head.flags & kTypeMask);
    wide::Lost lost;
    std::memcpy(&lost, bytes.data() + at + wide::kPayloadOffset, sizeof(lost));
    counts.hits += type == RecordType::hit ? 1 : 0;
    counts.held += type == RecordType::hit && (head.flags & kHeldTime) != 0 ? 1 : 0;
    counts.lost += type == RecordType::lost ? lost.count : 0;
  }
  return counts;
}

bool check(const std::string& folder) {
  for (const Case& which :
       {Case{"file", To::file, 1, steps, 0, 0}, Case{"file ring", To::file_ring, 1, steps, 0, 0},
        Case{"sparse clock", To::file, 16, steps, 0, 0}}) {
    const int sink = open(which, folder);
    const std::string path = sink_control::path(sink);
    which.run(kEvents);
    sink_control::close(sink);
    const Counts counts = count(path.c_str());
    unlink(path.c_str());
    const uint64_t held = which.clock_every == 1 ? 0 : kEvents - kEvents / which.clock_every;
    const uint64_t slack =
        which.clock_every == 1 ? 0 : kEvents / 1000;  // first executions always read it
    if (counts.hits + counts.lost == kEvents && counts.held + slack >= held &&
        counts.held <= held + slack) {
      continue;
    }
    std::fprintf(stderr,
                 "wrong: %s: %zu events and %zu lost of %zu, %zu without a time of their own\n",
                 which.name, static_cast<size_t>(counts.hits), static_cast<size_t>(counts.lost),
                 static_cast<size_t>(kEvents), static_cast<size_t>(counts.held));
    return false;
  }
  return true;
}

double run(const Case& which, const std::string& folder) {
  const int sink = open(which, folder);
  const std::string path =
      sink >= 0 && sink_control::path(sink) != nullptr ? sink_control::path(sink) : "";
  if (which.to == To::ring || which.to == To::file_ring)
    which.run(kEvents);  // one full round: all pages exist
  which.run(1000);
  const uint64_t start = thread_ns();
  which.run(kEvents);
  const uint64_t end = thread_ns();
  if (sink >= 0) sink_control::close(sink);
  if (!path.empty()) unlink(path.c_str());
  return static_cast<double>(end - start) / kEvents;
}

}  // namespace

int main() {
  char name[] = "/tmp/stacktrack_bench.XXXXXX";
  const std::string folder = mkdtemp(name) == nullptr ? "" : name;
  if (folder.empty() || !check(folder)) return 1;
  const double event = kShared ? 1.30 : 1.15;
  std::vector<Case> cases = {
      {"read the counter", To::nowhere, 1, read_counters, 0, 0},
      {"empty loop", To::nowhere, 1, nothing, 0, 0},
      {"read beside 64 additions", To::nowhere, 1, read_counters_beside_work, 0, 0},
      {"step, not recording", To::nowhere, 1, steps, 0, 0.5},
      {"step, ring in memory", To::ring, 1, steps, event, 0},
      {"step, ring in a file", To::file_ring, 1, steps, event, 0},
      {"step, growing file", To::file, 1, steps, 2.2, 0},
      {"scope, ring in a file", To::file_ring, 1, scopes, 2 * event, kShared ? 0 : 38},
      {"step, clock 1 in 16", To::file_ring, 16, steps, 0, 0},
      {"scope, clock 1 in 16", To::file_ring, 16, scopes, 0, kShared ? 0 : 8},
      {"value (integer)", To::file_ring, 1, values, 2 * event + 0.2, 0},
  };
  for (int round = 0; round < kRounds; ++round) {
    for (Case& each : cases) each.best = std::min(each.best, run(each, folder));
  }
  rmdir(folder.c_str());
  const double counter = cases[0].best;
  const double loop = cases[1].best;
  const double beside = cases[2].best;
  std::printf("StackTrack, %s; %zu events, the least of %d\n",
              kShared ? "through the shared library" : "inlined", static_cast<size_t>(kEvents),
              kRounds);
  std::printf(
      "Budgets are ratios to reading the counter beside 64 additions, which is what an event\n"
      "executes; those in ns were set where reading the counter takes 16 ns.\n");
  bool all_within = true;
  for (const Case& each : cases) {
    const double own = each.to == To::nowhere && each.run == steps ? each.best - loop : each.best;
    std::printf("%-24s %7.2f ns %6.2f x the counter", each.name, own, own / counter);
    bool within = true;
    if (each.most_ratio > 0) {
      std::printf("  %.2f x beside work, budget %.2f x", own / beside, each.most_ratio);
      within = own / beside <= each.most_ratio;
    }
    if (each.most_ns > 0) {
      std::printf("  budget %.1f ns", each.most_ns);
      within = within && own <= each.most_ns;
    }
    std::printf("%s\n", within ? "" : "  OVER");
    all_within = all_within && within;
  }
  return all_within ? 0 : 2;
}
