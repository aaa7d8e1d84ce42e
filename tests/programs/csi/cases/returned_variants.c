/* Both functions returned before the program stops. */
#include <stdio.h>

int called(int n) {
  if (n > 1)
    puts("big");
  else
    puts("small");
  return n;
}

int by_pointer(int n) {
  if (n > 1)
    puts("large");
  else
    puts("little");
  return n;
}

int main(int argc, char **argv) {
  (void)argv;
  int (*volatile pointer)(int) = by_pointer;
  if (called(argc) == 1)
    puts("one");
  pointer(argc);
  *(volatile int *)0 = 1;
}
