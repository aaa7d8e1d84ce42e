/* Functions that stop at an instruction. Comments say what ran, with an argument in straight(), without in branches(): "ran" or "not". */
#include <stdio.h>

__attribute__((noinline)) static int branches(int number) {
  if (number > 5) /* ran */
    puts("large"); /* not */
  else
    puts("small"); /* ran */
  puts("both");    /* ran */
  *(volatile int*)0 = number; /* ran: here */
  puts("after");              /* not */
  return number;              /* not */
}

__attribute__((noinline)) static int straight(int number) {
  puts("first");              /* ran */
  puts("second");             /* ran */
  *(volatile int*)0 = number; /* ran: here */
  puts("after");              /* not */
  return number;              /* not */
}

static inline int inlined(int number) {
  puts("inlined");
  return number > 7 ? branches(number) : straight(number);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc == 1) return branches(argc);
  if (argc == 2) return straight(argc);
  return inlined(argc);
}
