/* A function with a loop is called 200 times; what its argument is tells once, in call 120, something else. */
#include <stdio.h>

static int calls;

__attribute__((noinline)) static int sum(const int* numbers, int count, int scale) {
  int total = 0;
  ++calls;
  for (int i = 0; i < count; ++i) total += numbers[i] * scale;
  if (calls == 120) total = -total;
  return total;
}

int main(void) {
  int numbers[] = {1, 2, 3, 4, 5};
  long all = 0;
  for (int call = 1; call <= 200; ++call) all += sum(numbers, 1 + call % 5, call);
  printf("%ld\n", all);
  return 0;
}
