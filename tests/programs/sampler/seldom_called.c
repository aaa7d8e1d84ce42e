/* Thirty-two functions with a long loop, each called sixteen times. */
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

#define EIGHT(name)                                                                        \
  FUNCTION(name##1)                                                                        \
  FUNCTION(name##2)                                                                        \
  FUNCTION(name##3)                                                                        \
  FUNCTION(name##4)                                                                        \
  FUNCTION(name##5)                                                                        \
  FUNCTION(name##6)                                                                        \
  FUNCTION(name##7)                                                                        \
  FUNCTION(name##8)                                                                        \
  static unsigned name(unsigned call) {                                                    \
    return name##1(call) + name##2(call) + name##3(call) + name##4(call) + name##5(call) + \
           name##6(call) + name##7(call) + name##8(call);                                  \
  }

EIGHT(first)
EIGHT(second)
EIGHT(third)
EIGHT(fourth)

int main(void) {
  unsigned sum = 0;
  for (unsigned call = 0; call < 16; call++)
    sum += first(call) + second(call) + third(call) + fourth(call);
  printf("%u\n", sum);
  return 0;
}
