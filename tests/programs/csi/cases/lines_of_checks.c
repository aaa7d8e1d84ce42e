/* The Sampler's checks at the end of a branch have the line that the branch ends with: that of `else`, or what follows on
   it. Comments say what ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;

static __attribute__((noinline)) int twice(int number) { return 2 * number; }

int main(int argc, char** argv) {
  int number = argc > 1 ? atoi(argv[1]) : 1;
  if (number < 5) {
    twice(number); /* ran */
  } else {
    twice(3); /* not */
  }
  if (number < 7) {
    twice(4); /* ran */
  } else { sink = twice(5); } /* not */
  if (number > 7) {
    twice(5); /* not */
  } else
    twice(6); /* ran */
  for (int i = 0; i < 4; ++i) {
    if (i == number) {
      sink = twice(i); /* ran */
      continue;
    } else if (i == number + 1) {
      break;
    } else {
      sink = 3; /* ran */
    }
    sink = twice(sink); /* ran */
  }
  if (number > 3) {
    twice(6); /* not */
  } else {
    puts("end"); /* ran */
  }
  abort(); /* ran */
}
