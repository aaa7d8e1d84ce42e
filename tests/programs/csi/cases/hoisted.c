// At -O2 the instructions of some lines stand before the loop, and those lines run in it.
#include <stdlib.h>

volatile int out;

__attribute__((noinline)) static int repeat(int n, int k) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    out = i;
    if (out == 77) out = (k * k + 3) * n;
    if (i == 2) abort();
  }
  return sum;
}

int main(int argc, char** argv) {
  out = repeat(argc + 5, argc + 2) + (argv == NULL);
  return 0;
}
