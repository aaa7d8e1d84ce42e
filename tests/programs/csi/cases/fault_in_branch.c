// Two branches that end with a fault; main() chooses one.
#include <stdio.h>

__attribute__((noinline)) static int store(int *first, int *second, int value) {
  if (value > 3) {
    puts("large");
    *first = value;
  } else {
    puts("small");
    *second = value + 1;
  }
  return value;
}

int main(int argc, char **argv) {
  int *volatile nowhere = NULL;
  (void)argv;
  return store(nowhere, nowhere, argc);
}
