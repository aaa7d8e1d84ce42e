/* Cannot be linked, unless the compiler inlines the functions and knows what they are called with. */
#include <stdio.h>

int not_constant(void);
int seen[5];

static inline __attribute__((always_inline)) int always_inlined(int n) {
  int sum = n;
  if (!__builtin_constant_p(n)) sum += not_constant();
  if (sum > 3) sum = sum - 1;
  return sum;
}

static inline int inlined(int n) {
  int sum = n;
  if (!__builtin_constant_p(n)) sum += not_constant();
  if (sum > 3) sum = sum - 1;
  return sum;
}

static inline int inlined_with_loop(int n) {
  int sum = n;
  if (!__builtin_constant_p(n)) sum += not_constant();
  for (int i = 0; i < 3; ++i) sum = sum + i;
  return sum;
}

#ifdef SAMPLED
/* LLVM does not inline this one at once, because it has more observations, and without sampling not at all. */
static inline int inlined_late(int n, int x) {
  int sum = x;
  if (!__builtin_constant_p(n)) sum += not_constant();
  if (n == 0) { sum = sum * 2 + x; if (sum > 0) sum = sum - x; seen[0] = sum; }
  if (n == 1) { sum = sum * 3 + x; if (sum > 7) sum = sum - x; seen[1] = sum; }
  if (n == 2) { sum = sum * 4 + x; if (sum > 14) sum = sum - x; seen[2] = sum; }
  if (n == 3) { sum = sum * 5 + x; if (sum > 21) sum = sum - x; seen[3] = sum; }
  if (n == 4) { sum = sum * 6 + x; if (sum > 28) sum = sum - x; seen[4] = sum; }
  return sum;
}
#else
static int inlined_late(int n, int x) { return n + x; }
#endif

__attribute__((noinline)) int use_late(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum = sum + inlined_late(1, i);
    sum = sum + inlined_late(3, count);
  }
  return sum;
}

__attribute__((noinline)) int use(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum = sum + always_inlined(3);
    sum = sum + inlined(5);
    sum = sum + inlined_with_loop(7);
  }
  return sum;
}

int main(void) {
  printf("%d %s\n", use(3), use_late(3) > 0 ? "late" : "");
  return 0;
}
