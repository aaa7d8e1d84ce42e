/* Assignments that are compared with many variables of their type: with external linkage, of this
   file alone, per thread, missing, and of all widths. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEN(type, name)                                                                       \
  type name##0 = 0, name##1 = 1, name##2 = 2, name##3 = 3, name##4 = 4, name##5 = (type) - 1, \
       name##6 = (type) - 7, name##7 = (type)1000, name##8 = (type)70000,                     \
       name##9 = (type)5000000000

TEN(signed char, small);
TEN(unsigned char, byte);
TEN(short, half);
TEN(unsigned short, cell);
TEN(int, number);
TEN(unsigned int, word);
TEN(long, wide);
TEN(unsigned long, huge);
int more0 = 10, more1 = 11, more2 = 12, more3 = 13, more4 = 14, more5 = 15, more6 = 16, more7 = 17;
static int own = 5;
_Thread_local int of_thread = 6;
int last0 = 18, last1 = 19, last2 = 20;
extern int missing __attribute__((weak));
extern int undefined __attribute__((visibility("hidden")));
bool yes = true, no = false, maybe = true, never = false;
int *nowhere, *somewhere = &number3, *elsewhere = &number4, *there = &more0;

__attribute__((noinline)) static long step(int i) {
  signed char a = (signed char)(i - 3);
  unsigned char b = (unsigned char)(i * 7);
  short c = (short)(i - 5);
  unsigned short d = (unsigned short)(i * 1000);
  int e = i - 7;
  unsigned int f = (unsigned int)i * 90000u;
  long g = (long)i * 1000000000 - 3;
  unsigned long h = (unsigned long)i * 700000000ul;
  bool k = i % 3 == 0;
  int* p = i % 4 == 0 ? nowhere : i % 4 == 1 ? &number3 : &more0;
  number3 = e + 1;
  own = i;
  of_thread = i;
  return a + b + c + d + e + f + g + (long)h + k + (p == NULL ? own : *p);
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 20; i++) {
    long part = step(i);
    sum += part;
    if (&missing != NULL) sum += missing;
  }
  printf("%ld\n", sum);
  return 0;
}
