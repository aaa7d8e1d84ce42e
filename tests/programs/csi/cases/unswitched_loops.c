// Loops of which the optimiser leaves one iteration, the one that leaves the loop in another way:
// it decides before the loop whether it would abort, and removes the loop that would not.
#include <stdlib.h>

int often = 3;
static int limit;
static volatile int kept;

static void check(int least) {
  if (limit < least)
    abort();
}

static int direct(int n) {
  if (often > 0) {
    int i = 5;
    do {
      if (limit < 0)
        abort();
    } while (--i);
  }
  return n > 6 ? 10 : 11;
}

static int called(int n) {
  if (often > 1) {
    int i = 4;
    do
      check(1);
    while (--i);
  }
  return n > 7 ? 12 : 13;
}

typedef int function(int, int);

static int seldom(int a, int b) {
  return a * b;
}

static int pointed_to(int a, int b) {
  a += a;
  if ((often > 8 ? limit : kept) < a)
    return -3;
  limit -= b;
  if (limit < 0)
    abort();
  return -3;
}

static function* table[] = {seldom, pointed_to};

__attribute__((noinline)) static int by_pointer(int b) {
  int i = 20;
  do {
    b += table[limit & 1 ? 1 : 1](100 - often, 11);
  } while (--i > 0);
  return b;
}

int main(int argc, char** argv) {
  limit = argc * 40;
  kept = direct(argc) + called(argc);
  kept = by_pointer(argc) + (argv == NULL);
  return 0;
}
