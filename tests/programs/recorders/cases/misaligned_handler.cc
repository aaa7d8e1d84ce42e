#include <cstdlib>
#include <telltale/stacktrack.hpp>

#include "../../misaligned_call.h"

// Records ten calls of step(), then calls the handler of signal argv[1] with a misaligned stack.
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
  siginfo_t info = {};
  info.si_signo = std::atoi(argv[1]);
  info.si_code = SI_TKILL;
  call_misaligned(info.si_signo, &info, nullptr);
}
