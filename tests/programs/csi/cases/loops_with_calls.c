/* Loops call functions that only write: they are inlined, and the loops become stores of their last values. */
#include <stdlib.h>

int left = 3, is_rough, color, sum, seed = 40;

void shade(int depth) {
  if (is_rough) { /* ran */
    for (int i = 1; i < depth; i++) /* not */
      sum = sum * 3 + i; /* not */
  }
  color = depth & 6; /* ran */
}

int shade_deep(int depth) {
  while (is_rough) /* ran */
    sum = sum * 5 + depth; /* not */
  color = depth & 6; /* ran */
  return sum; /* ran */
}

int main(void) {
  for (; left > 0; left--) /* ran */
    shade(seed); /* ran */
  left = 2; /* ran */
  for (; left > 0; left--) /* ran */
    shade_deep(seed); /* ran */
  if (color == 3) /* ran */
    exit(1); /* not */
  abort();
}
