/* Stops in a function that is inlined into one with branches, or, with an argument, into one of a single block. */
#include <stdio.h>

static volatile int limit = 1;

__attribute__((noinline)) static void stop(int number) {
  puts("stop");
  *(volatile int*)0 = number;
}

__attribute__((always_inline)) static inline int inner(int number) {
  puts("inner");
  stop(number);
  puts("after");
  return number;
}

__attribute__((noinline)) static int with_branches(int number) {
  if (number > limit) puts("more");
  const int result = inner(number);
  puts("end");
  return result;
}

__attribute__((noinline)) static int of_one_block(int number) {
  const int result = inner(number);
  puts("end");
  return result;
}

int main(int argc, char** argv) {
  (void)argv;
  const int result = argc > 1 ? of_one_block(argc) : with_branches(argc);
  puts("main");
  return result;
}
