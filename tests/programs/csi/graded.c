// Ends in fail() in two ways; arguments: turns, mode. Mode 7 takes a wrong turn.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void fail(int status) { exit(status); }

__attribute__((noinline)) static int grade(int turns, int mode) {
  int total = 0;
  for (int i = 0; i < turns; ++i) {
    if (i % 3 == 0) {
      total += 2;
    } else if (mode == 7 && i == 4) {
      total -= 100;
    } else {
      total += 1;
    }
  }
  if (total < 0) fail(1);
  if (mode > 10) fail(3);
  return total;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int total = grade(atoi(argv[1]), atoi(argv[2]));
  printf("%d\n", total);
  return 0;
}
