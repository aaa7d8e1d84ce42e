// Two threads that wait in the middle of traced functions until a line arrives at standard input,
// after which the process aborts. Arguments: turns of each.
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace {

volatile int sum = 0;

void wait_for_line() {
  char line = 0;
  while (read(STDIN_FILENO, &line, 1) == 1 && line != '\n') {
  }
}

__attribute__((noinline)) void worker(int turns) {
  for (int i = 0; i < turns; ++i) {
    if (i % 3 == 0) {
      sum = sum + 1;
    } else {
      sum = sum + 2;
    }
  }
  for (;;) pause();
}

__attribute__((noinline)) int asker(int turns) {
  for (int i = 0; i < turns; ++i) {
    if (i % 2 == 0) sum = sum + 3;
  }
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  wait_for_line();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::thread thread(worker, std::atoi(argv[1]));
  usleep(50'000);
  asker(std::atoi(argv[2]));
  std::abort();
}
