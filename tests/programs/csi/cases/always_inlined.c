/* No compiler can inline all calls of a recursive function. */
#include <stdio.h>

static inline __attribute__((always_inline)) int steps(int n) {
  if (n % 2 == 0) return steps(n / 2) + 1;
  return n > 1 ? steps(3 * n + 1) + 1 : 0;
}

int main(int argc, char **argv) {
  (void)argv;
  printf("%d\n", steps(argc + 2) + argc);
  return 0;
}
