#include <cstdlib>
#include <cstring>
#include <telltale/stacktrack.hpp>

#include "../../check_alignment.h"
#include "../../misaligned_call.h"

// Records ten calls of step(), then calls the handler of signal argv[1] with a misaligned stack, or
// if argv[1] is "unaligned", stores to an odd address while the processor checks the alignment.
// argv[2]: where a ring in memory is to be dumped.
[[gnu::noinline]] static void step() {
  TELLTALE_STEP("write");
  asm volatile("");
}

int main(int argc, char** argv) {
#ifndef TELLTALE_STACKTRACK_DISABLED
  telltale::st::RingOptions options;
  options.dump_on_crash = argv[2];
  if (argc > 2) telltale::st::sink_control::open(options);
#endif
  for (int i = 0; i < 10; ++i) step();
  if (std::strcmp(argv[1], "unaligned") == 0) {
    alignas(4) static char bytes[8];
    check_alignment();
    *reinterpret_cast<volatile int*>(bytes + 1) = 7;  // crashes
  }
  siginfo_t info = {};
  info.si_signo = std::atoi(argv[1]);
  info.si_code = SI_TKILL;
  call_misaligned(info.si_signo, &info, nullptr);
}
