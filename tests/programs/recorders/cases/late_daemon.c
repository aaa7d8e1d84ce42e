// Becomes a daemon, and calls nothing until its folder has a file `go`.
#include <unistd.h>

__attribute__((noinline)) static int work(int number) {
  asm volatile("");
  return number;
}

__attribute__((no_instrument_function)) int main(void) {
  enum { kSeconds = 60, kPerSecond = 100, kMicroseconds = 1000000 };
  if (daemon(1, 0) != 0) return 1;
  for (int i = 0; i < kSeconds * kPerSecond && access("go", F_OK) != 0; ++i)
    usleep(kMicroseconds / kPerSecond);
  return work(0);
}
