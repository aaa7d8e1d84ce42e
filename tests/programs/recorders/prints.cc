// prints [closes|raises|aborts]: one thread prints "line of the log", while another does what the
// recorders record: calls, branches and checkpoints (-DCHECKPOINTS). closes: first closes all
// descriptors. raises: SIGUSR2 twenty times in between. aborts: aborts at last.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#ifdef CHECKPOINTS
#include <telltale/stacktrack.hpp>
#else
#define TELLTALE_STEP(text)
#endif

namespace {

std::atomic<bool> started = false;
std::atomic<bool> done = false;
volatile int odd = 0;

__attribute__((no_instrument_function)) void print() {
  const char line[] = "line of the log\n";
  for (bool printed = false; !done; printed = true) {
    for (int descriptor = 1; descriptor <= 2; ++descriptor) {
      if (write(descriptor, line, sizeof(line) - 1) < 0) continue;
    }
    if (printed) started = true;
  }
}

__attribute__((noinline)) void work(int n) {
  TELLTALE_STEP("work");
  if (n % 2 != 0) odd = odd + 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "closes") == 0) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
  }
  std::thread printer(print);
  while (!started) std::this_thread::yield();
  for (int i = 0; i < 600000; ++i) {
    work(i);
    if (i % 30000 == 0 && strcmp(how, "raises") == 0) raise(SIGUSR2);
  }
  printf("line of the log\n");
  if (strcmp(how, "aborts") == 0) abort();
  done = true;
  printer.join();
  return 0;  // libc prints the line of printf() now
}
