/* A second copy of this function would define the label again. */
#include <stdio.h>

__attribute__((noinline)) int add_up(int count) {
  int sum = 3;
  if (count > sum) sum = sum + count;
  __asm__ volatile("named_label:" : "+r"(sum));
  if (count > sum) sum = count;
  return sum;
}

int main(void) {
  printf("%d\n", add_up(5));
  return 0;
}
