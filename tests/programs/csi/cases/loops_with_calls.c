/* A loop calls a function that only writes. Optimisation inlines it, removes the loop, and stores the last values. */
#include <stdlib.h>

int rounds = 1, waits, stop, low_bits, sum[1];
char other;

int note_bits(int number) {
  for (;;) {
    if (number / 5) /* ran */
      while (waits) /* not */
        sum[0] || other; /* not */
    low_bits = number & 6; /* ran */
    if (stop + 1) /* ran */
      return 0; /* ran */
    waits = sum[0]; /* not */
  }
}

int main(void) {
  for (; rounds >= 0; rounds--) /* ran */
    note_bits(other); /* ran */
  if (low_bits != 0) /* ran */
    exit(1); /* not */
  abort();
}
