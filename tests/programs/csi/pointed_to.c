/* One function is called by its name, the other through a pointer. */
#include <stdio.h>
#include <stdlib.h>

int larger(int one, int other) {
  if (one > other) return one;
  return other;
}

int order(const void* one, const void* other) {
  if (*(const int*)one > *(const int*)other) return 1;
  return *(const int*)one < *(const int*)other ? -1 : 0;
}

int main(int count, char** arguments) {
  int numbers[] = {3, 1, 2, count};
  (void)arguments;
  qsort(numbers, 4, sizeof(int), order);
  printf("%d %d\n", numbers[3], larger(numbers[0], 7));
  return 0;
}
