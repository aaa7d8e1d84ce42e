/* Straight code of which the end did not run.
   Comments say what ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

static volatile int* place;

__attribute__((noinline)) void end_at(int number) {
  printf("%d\n", number); /* ran */
  if (number == 3) {
    puts("three");    /* ran */
    *place = number;  /* ran */
    puts("not here"); /* not */
  }
}

__attribute__((noinline)) int twice(int number) {
  end_at(number);  /* ran */
  puts("between"); /* ran */
  end_at(number + 1);
  puts("after"); /* ran */
  return number;
}

int main(int argc, char** argv) {
  (void)argv;
  twice(argc - 1); /* ran */
  puts("one");     /* ran */
  twice(argc + 1); /* ran */
  puts("two");     /* not */
  twice(argc + 4); /* not */
  return 0;        /* not */
}
