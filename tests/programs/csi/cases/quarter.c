#include "half.h"

int quarter(int value) {
  volatile int rest = 0;
  if (value % 4 != 0)
    rest = value % 4;  // half() is about to abort
  return half(half(value)) + rest;
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; ++i)
    sum += quarter(atoi(argv[i]));
  return sum == 0;
}
