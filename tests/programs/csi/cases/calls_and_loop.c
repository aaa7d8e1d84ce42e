#include <stdio.h>
#include <stdlib.h>
static int twice(int x) { return x * 2; }
int never(int x) {
  return x + 1;
}
__attribute__((noinline)) int f(int a, int b) {
  int s = 0;
  for (int i = 0; i < a; i++) {
    if (i == b)
      abort();
    if (i % 3 == 0)
      s += twice(i);
    else
      s -= puts("odd");
  }
  if (s > 100000)
    return never(s);
  return s;
}
int main(int argc, char **argv) { return f(5, argc > 1 ? 4 : 40) & 1; }
