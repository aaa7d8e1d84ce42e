/* See folded.c. */
#include <stdlib.h>

extern __attribute__((visibility("hidden"))) volatile int sink; /* addressed as where it is defined */

__attribute__((noinline)) static int local(int number) {
  if (number > 5) sink = number;
  if (sink != 77) abort();
  return number + 3;
}

int of_other_file(int number) { return local(number) + number; }
