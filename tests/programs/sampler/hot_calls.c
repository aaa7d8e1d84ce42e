/* Two functions that are the same but for the length of their loops, each called twenty times. */
#include <stdio.h>

__attribute__((noinline)) static unsigned shortly(unsigned number, int rounds) {
  for (int i = 0; i < rounds; i++) {
    if (number % 3 == 0) number += 7;
    number = number * 5 + 1;
  }
  if (number % 2 == 1) number++;
  return number;
}

__attribute__((noinline)) static unsigned longer(unsigned number, int rounds) {
  for (int i = 0; i < rounds; i++) {
    if (number % 3 == 0) number += 7;
    number = number * 5 + 1;
  }
  if (number % 2 == 1) number++;
  return number;
}

int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < 20; i++) {
    unsigned part = shortly((unsigned)i, 10);
    sum += part;
  }
  for (int i = 0; i < 20; i++) {
    unsigned part = longer((unsigned)i, 100000);
    sum += part;
  }
  printf("%u\n", sum);
  return 0;
}
