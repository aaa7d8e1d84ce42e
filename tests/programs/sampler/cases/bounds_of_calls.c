#include <stdio.h>

__attribute__((noinline)) int twice(int number) {
  int result;
  result = number * 2;
  return result;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 50; i++) sum += twice(i);
  printf("%d\n", sum);
  return 0;
}
