/* check() aborts if its first argument is above the limit: the second one has nothing to do with it. */
#include <stdlib.h>

static int limit = 3;
static int other;

__attribute__((noinline)) static void check(int value, int note) {
  other = note;
  if (value > limit) /* in the slice */
    abort();         /* in the slice */
}

int main(int argc, char **argv) {
  (void)argv;
  int value = argc + 8; /* in the slice */
  int note = argc * 2;
  limit = argc;       /* in the slice */
  check(value, note); /* in the slice */
  return other;
}
