// Crashes in the middle of a block, at one of its places, if the argument is odd. Optimised code of
// sink() has one store at its end; careful() is inlined into main.
#include <stdlib.h>

static int place, before, after;

__attribute__((noinline)) static int* slot(int number) { return number % 2 ? NULL : &place; }

__attribute__((noinline)) static int sink(int number, int right) {
  int* const at = slot(number);
  if (right > 4)
    *at += right;
  else if (at)
    *at -= 1;
  return right + 1;
}

__attribute__((noinline)) static int straight(int number) {
  if (number > 100) return 0;
  volatile int* const at = slot(number);
  before = number + 1;
  *at = 2;
  after = before + 1;
  return after;
}

int careful(int number) {
  if (number < 0) return 0;
  return number + before;
}

int main(int argc, char** argv) {
  const int number = argc > 1 ? atoi(argv[1]) : 0;
  const int sum = careful(number);
  if (number % 4 < 2)
    sink(number, 4 + number % 2);
  else
    straight(number);
  exit(sum < 0);
}
