/* Leaves uninitialized variables of calls that have returned all over the stack. With an argument, reads one. */
#include <stdlib.h>

__attribute__((noinline)) static int deep(int level) {
  char many[20000];
  many[level] = 1;
  return level > 50 ? many[level] : deep(level + 1) + many[level];
}

int main(int count, char** arguments) {
  (void)arguments;
  int all = deep(0);
  const volatile int* const values = malloc(10 * sizeof(int));
  if (count > 1 && values[3] != 0)
    ++all;
  exit(all == 52 ? 0 : 2);
}
