// setjmp: paths are not reliable. The other function has 8 paths.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;
static int deep(int n) {
  if (n > 3) longjmp(place, n);
  return deep(n + 1);
}
int jumps(int n) {
  const int again = setjmp(place);
  if (again) return again;
  return deep(n);
}
int three_ifs(int n) {
  int sum = 0;
  if (n & 1) sum += printf("a");
  if (n & 2) sum += printf("b");
  if (n & 4) sum += printf("c");
  return sum;
}
int main(void) {
  printf("%d %d\n", jumps(1), three_ifs(6));
  return 0;
}
