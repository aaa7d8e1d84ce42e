/* One site on each of four ways of very different frequency, in loops and across calls. */
#include <stdlib.h>

static int helper(int n) { return n > 3; }

int main(int argc, char **argv) {
  int hits = 0;
  for (int i = 0; i < 200000; i++) {
    if (i % 2) hits++;
    if (i % 16 == 0 && helper(i)) hits += 2;
  }
  return argc > 5 || argv == NULL ? hits : 0;
}
