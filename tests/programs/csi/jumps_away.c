// Optimised, some functions end with a jump: to a function without paths of its own, because it has
// one block, and to the C library.
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
volatile int sink;

NOINLINE int one_block(int n) {
  sink = n * 3;
  sink = sink + n / 7;
  sink = sink * sink - n % 5;
  return sink + n;
}

NOINLINE int ends_in_the_program(int n) {
  if (n % 3 == 0) sink = n;
  return one_block(n + 1);
}

NOINLINE void* ends_in_the_library(char* place, int n) {
  if (n % 2 == 0) sink = -n;
  return memset(place, n, (size_t)(n % 40));
}

int main(int argc, char** argv) {
  (void)argv;
  char place[64];
  int sum = 0;
  for (int i = 0; i < 400 * argc; ++i) {
    sum += ends_in_the_program(i);
    sum += *(char*)ends_in_the_library(place, i + 1);
  }
  return sum & 1;
}
