// R13: a counter that steps. The kernel makes every reading of the counter fault (PR_SET_TSC), and
// the handler supplies the value: slightly back, far back, a machine that slept, processors whose
// counters differ.

#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <atomic>
#include <thread>

#include "recorded.h"

#if defined(__x86_64__)
#include <x86intrin.h>

namespace {

using recorded::fail;
using telltale::st::sink_control;

thread_local int64_t offset __attribute__((tls_model("initial-exec"))) = 0;
std::atomic<uint64_t> faked{0};
uintptr_t vdso = 0;
constexpr uintptr_t kVdsoBytes = 1U << 16;

void on_fault(int, siginfo_t*, void* context) {
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<uintptr_t>(registers[REG_RIP]);
  const auto* const code = reinterpret_cast<const uint8_t*>(at);
  const bool plain = code[0] == 0x0f && code[1] == 0x31;
  const bool with_cpu = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
  if (!plain && !with_cpu) {
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
  uint64_t ticks = __rdtsc();
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  // The system's own clocks stay correct.
  if (at - vdso >= kVdsoBytes) {
    ticks += static_cast<uint64_t>(offset);
    faked.fetch_add(1, std::memory_order_relaxed);
  }
  registers[REG_RAX] = static_cast<greg_t>(ticks & 0xffffffffU);
  registers[REG_RDX] = static_cast<greg_t>(ticks >> 32);
  if (with_cpu) registers[REG_RCX] = 0;
  registers[REG_RIP] += plain ? 2 : 3;
}

uint64_t steps(uint64_t from, uint64_t count) {
  for (uint64_t i = from; i < from + count; ++i) TELLTALE_VALUE("number", i);
  return from + count;
}

constexpr int64_t kSteps[] = {0, -300, -5'000'000'000, 50'000'000'000, -50'000'000'000, 17};
constexpr uint64_t kEach = 500;

void stepping() {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) fail("the counter cannot be made to fault");
  uint64_t next = 0;
  for (const int64_t step : kSteps) {
    offset += step;
    next = steps(next, kEach);
  }
  // From one processor to the other and back; their counters differ.
  for (int i = 0; i < 200; ++i) {
    offset += i % 2 == 0 ? 700 : -700;
    next = steps(next, 3);
  }
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
}
constexpr uint64_t kAll = kEach * std::size(kSteps) + 600;

void check(const std::string& path) {
  const recorded::File file = recorded::read_file(path);
  if (file.torn + file.unnamed + file.all_lost() != 0) fail("torn, unnamed or lost");
  const auto threads = recorded::by_thread(file);
  if (threads.size() != 2) fail("%zu threads", threads.size());
  bool backwards = false;
  for (const auto& [tid, hits] : threads) {
    if (hits.size() != kAll) fail("%zu events of %zu", hits.size(), size_t{kAll});
    for (size_t i = 0; i < hits.size(); ++i) {
      // By sequence number, which never decreases, they are in chronological order.
      if (hits[i].text != std::to_string(i)) fail("event %zu is %s", i, hits[i].text.c_str());
      if (i == 0) continue;
      if (hits[i].sequence <= hits[i - 1].sequence) fail("sequence %zu", i);
      backwards = backwards || hits[i].when < hits[i - 1].when;
    }
  }
  if (!backwards) fail("the file does not know that the clock went back");
}

}  // namespace

// `clocks FOLDER EVERY`: prints the recording's path.
int main(int argc, char** argv) {
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  vdso = getauxval(AT_SYSINFO_EHDR);
  telltale::st::FileOptions options;
  options.directory = argc > 1 ? argv[1] : ".";
  options.clock_every = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1;
  const int sink = sink_control::open(options);
  if (sink < 0) fail("open: %s", std::strerror(-sink));
  const std::string path = sink_control::path(sink);
  std::thread other(stepping);
  stepping();
  other.join();
  sink_control::close();
  if (faked == 0) fail("nobody read the counter");
  check(path);
  std::printf("%s\n", path.c_str());
  return 0;
}
#else
int main() {
  std::printf("skipped: another processor\n");
  return 0;
}
#endif
