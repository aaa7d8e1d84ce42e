/* `ends_early MODE`: mode 1 crashes after the wrong turn; what is left to do did not run then, which is no cause. */
#include <stdio.h>
#include <stdlib.h>

static int *place;

static void choose(int mode) {
  static int cell;
  if (mode == 1)
    place = NULL;
  else
    place = &cell;
}

static void report(int value) {
  if (value > 1)
    puts("more");
  puts("reported");
}

int main(int argc, char **argv) {
  int mode = argc > 1 ? atoi(argv[1]) : 0;
  choose(mode);
  for (int turn = 0; turn < 2; ++turn) {
    *place += turn;
    printf("turn %d\n", turn);
  }
  report(mode);
  return 0;
}
