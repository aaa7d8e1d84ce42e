#include <stdio.h>
static int counter(int first, int by) {
  int n;
  if (first) n = 100;
  n = n + by;
  if (n > 5000) puts("many");
  return n;
}
int main(void) {
  int i, last = counter(1, 1);
  for (i = 1; i < 1000; i++) last = counter(0, 1);
  printf("%d\n", last);
  return 0;
}
