#include <stdlib.h>
// Ends the program where it is inlined.
static int checked(int n) {
  if (n > 9)
    abort();
  return n & 1 ? n * 3 : n / 2;
}
__attribute__((noinline)) int sum(int turns) {
  int total = 0;
  for (int i = 0; i < turns; ++i) {
    if (i % 3 == 0)
      total -= checked(i);
    else
      total += i;
  }
  return total;
}
int main(int argc, char **argv) { return argv[argc] == 0 ? sum(argc + 19) : 0; }
