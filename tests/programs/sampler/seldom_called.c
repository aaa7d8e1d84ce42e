/* Eight functions with a long loop, each called sixteen times. */
#include <stdio.h>

#define FUNCTION(name)                                            \
  static __attribute__((noinline)) unsigned name(unsigned call) { \
    unsigned sum = call;                                          \
    for (unsigned i = 0; i < 3000; i++) {                         \
      sum = sum * 5 + i;                                          \
      if (call == 0) sum += 1;                                    \
      if (call == 1) sum += 2;                                    \
      if (call == 2) sum += 3;                                    \
      if (call == 4) sum += 4;                                    \
      if (call == 6) sum += 5;                                    \
      if (call == 7) sum += 6;                                    \
      if (call == 12) sum += 7;                                   \
      if (call == 15) sum += 8;                                   \
    }                                                             \
    return sum;                                                   \
  }

FUNCTION(first)
FUNCTION(second)
FUNCTION(third)
FUNCTION(fourth)
FUNCTION(fifth)
FUNCTION(sixth)
FUNCTION(seventh)
FUNCTION(eighth)

int main(void) {
  unsigned sum = 0;
  for (unsigned call = 0; call < 16; call++) {
    sum += first(call) + second(call) + third(call) + fourth(call);
    sum += fifth(call) + sixth(call) + seventh(call) + eighth(call);
  }
  printf("%u\n", sum);
  return 0;
}
