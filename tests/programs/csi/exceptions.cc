// Exceptions: landing pads that several calls share, clean-ups, rethrown exceptions, and frames
// that they leave.
#include <cstdlib>

#define NOINLINE __attribute__((noinline))
volatile int sink;

struct Guard {
  explicit Guard(int value) : value(value) {}
  NOINLINE ~Guard() {
    for (int i = 0; i < value % 3; ++i) sink = sink + value;
  }
  int value;
};

NOINLINE int throws(int n) {
  if (n % 4 == 1) throw n;
  if (n % 4 == 2) throw 1.5;
  return n;
}

// Four calls have one landing pad.
NOINLINE int catches(int n) {
  int sum = 0;
  try {
    const Guard guard(n);
    sum += throws(n);
    sum += throws(n + 1);
    sum += throws(n * 3);
    for (int i = 0; i < 3; ++i) sum += throws(n + 4 * i);
  } catch (int value) {
    sum += value;
  } catch (...) {
    sum -= 5;
  }
  return sum;
}

NOINLINE int rethrow(int n) {
  const Guard guard(n + 1);
  try {
    if (n > 0) return throws(n) + 1;
  } catch (int) {
    if (n == 5) throw;
    return 2;
  }
  return 3;
}

int main() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += catches(i);
  for (int i = 0; i < 7; ++i) {
    try {
      sum += rethrow(i);
    } catch (...) {
      sum += 100;
    }
  }
  std::_Exit(sum & 127);
}
