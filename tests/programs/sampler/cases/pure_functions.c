// Functions whose attributes say that they write nothing, called with values that a compiler knows.
#include <stdio.h>
#include <stdlib.h>

static void *__attribute__((pure)) nonnull(void *place) {
  if (!place) abort();
  return place;
}

void *__attribute__((pure, noinline)) same(void *place) { return place; }

int __attribute__((const, noinline)) half(int number) {
  if (number > 3) return number / 2;
  return 0;
}

int twice(int number) { return half(number) + half(number); }

int unused(int number) {
  half(number);
  return number;
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1000; i++) {
    char *place = same(nonnull(malloc(4)));
    sum += place != 0;
    free(place);
    sum += twice(i) + unused(i);
  }
  printf("%ld\n", sum);
  return 0;
}
