#include <stdio.h>

int twice(int number);

int main(void) {
  printf("%d %d\n", twice(2), twice(5));
  return 0;
}
