/* Generic code that is inlined for each of its variants: with one kind, only one of the two loops is reached. */
#include <stdio.h>

static inline __attribute__((always_inline)) int work(const int *numbers, int n, int kind) {
  int sum = 0;
  if (kind == 4) {
    for (int i = 0; i < n; ++i) if (numbers[i] > 3) sum += numbers[i];
  } else {
    for (int i = 0; i < n; ++i) if (numbers[i] > 5) sum -= numbers[i];
  }
  return sum;
}

int four(const int *numbers, int n) { return work(numbers, n, 4); }
int eight(const int *numbers, int n) { return work(numbers, n, 8); }

int main(void) {
  int numbers[10];
  for (int i = 0; i < 10; ++i) numbers[i] = i;
  printf("%d %d\n", four(numbers, 10), eight(numbers, 10));
  return 0;
}
