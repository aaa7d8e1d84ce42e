// Calls of an instrumented function and readings of the counter, alternately, in thread CPU time.
// Prints, as one line: nanoseconds per counter read, nanoseconds per call (of fib, with its own
// work), calls. Built by xray_recorder_bench.cc in several ways.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#if defined(WITH_XRAY_FDR)
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>
#endif

#if defined(__clang__)
#define INSTRUMENTED [[clang::xray_always_instrument]] __attribute__((noinline))
#define NOT_INSTRUMENTED [[clang::xray_never_instrument]] __attribute__((noinline))
#else
#define INSTRUMENTED __attribute__((noinline, optimize("no-optimize-sibling-calls")))
#define NOT_INSTRUMENTED __attribute__((noinline, no_instrument_function))
#endif

INSTRUMENTED uint64_t fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

NOT_INSTRUMENTED static double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

NOT_INSTRUMENTED static double counter_ns() {
  constexpr int kReads = 200'000;
  const double begin = thread_ns();
  uint64_t sum = 0;
  for (int i = 0; i < kReads; ++i) {
    uint32_t low;
    uint32_t high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    sum += low;
  }
  asm volatile("" : : "r"(sum));
  return (thread_ns() - begin) / kReads;
}

NOT_INSTRUMENTED int main(int argc, char** argv) {
  const int chunks = argc > 1 ? std::atoi(argv[1]) : 9;
  const unsigned n = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 22;
#if defined(WITH_XRAY_FDR)
  __xray_log_select_mode("xray-fdr");
  __xray_log_init_mode(
      "xray-fdr",
      "func_duration_threshold_us=0 buffer_size=16384 buffer_max=100 no_file_flush=true");
  __xray_patch();
#endif
  const double calls = static_cast<double>(2 * fib(n + 1) - 1);
  double counter = 1e9;
  double call = 1e9;
  uint64_t sum = 0;
  for (int i = 0; i < chunks; ++i) {
    counter = std::min(counter, counter_ns());
    const double begin = thread_ns();
    sum += fib(n);
    call = std::min(call, (thread_ns() - begin) / calls);
  }
  std::printf("%.3f %.3f %.0f %llu\n", counter, call, calls,
              static_cast<unsigned long long>(sum / static_cast<uint64_t>(chunks)));
#if defined(WITH_XRAY_FDR)
  __xray_log_finalize();
#endif
  std::fflush(stdout);
}
