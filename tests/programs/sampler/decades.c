/* A function without loops is called a million times. Which decade a call is in decides its branches. */
#include <stdio.h>

static int zeros(long call) {
  int count = 0;
  if (call >= 1000) ++count;
  if (call >= 10000) ++count;
  if (call >= 100000) ++count;
  return count;
}

int (*volatile called)(long) = zeros;

int main(void) {
  long all = 0;
  for (long call = 0; call < 1000000; ++call) all += called(call);
  printf("%ld\n", all);
  return 0;
}
