// One thread waits and another one crashes; frames of both have paths. Templates and lambdas are
// inlined when optimised.
#include <pthread.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdlib>
#include <stdexcept>
#include <vector>

static volatile bool waiting = false;
static std::jmp_buf place;

__attribute__((noinline)) static void wait_here() {
  waiting = true;
  while (true) pause();
}

static void* waiter(void* argument) {
  const int turns = *static_cast<int*>(argument);
  for (int i = 0; i < turns; ++i) {
    if (i == 2) {
      wait_here();
    }
    usleep(1);
  }
  return nullptr;
}

__attribute__((noinline)) static int careful(const std::vector<int>& values, size_t index) {
  int sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    try {
      sum += values.at(index + i);
    } catch (const std::out_of_range&) {
      sum -= 1;
    }
    if (sum < 0) {
      *const_cast<volatile int*>(values.data() - 0x100000000) = sum;
    }
  }
  return sum;
}

__attribute__((noinline)) static int jumps(const std::vector<int>& values) {
  if (setjmp(place) != 0) return 0;
  return careful(values, values.size() - 1);
}

int main() {
  int turns = 5;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, waiter, &turns) != 0) return 1;
  while (!waiting) usleep(100);
  const std::vector<int> values = {0, 0, 0, 0};
  const int result = jumps(values);
  return result == 7 ? std::longjmp(place, 1), 1 : 0;
}
