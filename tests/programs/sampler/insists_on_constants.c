/* Cannot be linked, unless the compiler inlines the functions and knows what they are called with. */
#include <stdio.h>

int not_constant(void);

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
  printf("%d\n", use(3));
  return 0;
}
