// Handlers that allocate memory, of which ThreadSanitizer warns if the program's calls of
// sigaction() and signal() got to it.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#if defined(STACKTRACK)
#include <telltale/stacktrack.hpp>
#endif

namespace {

volatile int times;

void allocates(int) {
  void* volatile memory = malloc(10);
  free(memory);
  times = times + 1;
}

}  // namespace

int main() {
#if defined(STACKTRACK)
  TELLTALE_STEP("begin");
#endif
  struct sigaction action{};
  action.sa_handler = allocates;
  sigaction(SIGUSR1, &action, nullptr);
  signal(SIGUSR2, allocates);
  raise(SIGUSR1);
  raise(SIGUSR2);
  std::printf("%d\n", times);
  return 0;
}
