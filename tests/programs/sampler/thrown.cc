// Exceptions leave functions that are inlined, and what is live around the call is used afterwards:
// all registers that a call may change had values that a handler still needs.
#include <cstdio>

struct Failure {
  int number;
};

static int checked(int number, long limit) {
  if (number > limit) throw Failure{number};
  return number;
}

static int checked_twice(int number, long limit) {
  return checked(number, limit) + checked(number + 1, limit);
}

__attribute__((noinline)) long sum(long a, long b, long c, long d, long e, int number) {
  long found = 0;
  try {
    found = a > 50 ? checked_twice(number, b) : checked(number, c);
  } catch (const Failure& failure) {
    found = 1000L * failure.number;
  }
  return found + 2 * a + 3 * b + 5 * c + 7 * d + 11 * e;
}

int main() {
  unsigned long all = 0;
  for (int i = 0; i < 300; ++i)
    all = all * 7 + (unsigned long)sum(i % 100, i % 7, i % 5, i + 3, i + 4, i % 9);
  std::printf("%lu\n", all);
}
