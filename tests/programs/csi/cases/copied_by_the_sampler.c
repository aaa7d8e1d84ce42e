/* Functions of which the Sampler makes copies: without loops, with loops, called once and often, not called.
   Comments say what ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

static volatile int sink;
static volatile int* place;

static OWN int weigh(int number) {
  if (number > 50)      /* ran */
    return number * 2;  /* ran */
  if (number < 0)       /* ran */
    return sink = -1;   /* not */
  return number + sink; /* ran */
}

static OWN int sum(const int* at, int count) {
  int all = 0;                      /* ran */
  for (int i = 0; i < count; ++i) { /* ran */
    if (at[i] == 7)
      all += sink = 7; /* not */
    all += weigh(at[i]);
  }
  return all; /* ran */
}

OWN int unused(int number) {
  if (number > 3)      /* not */
    sink = number;     /* not */
  return number - sink; /* not */
}

OWN int stops(int number) {
  int before = weigh(number); /* ran */
  printf("%d\n", before);     /* ran */
  if (before > 0)             /* ran */
    *place = before;          /* ran */
  puts("not here");           /* not */
  return before;              /* not */
}

int main(int argc, char** argv) {
  (void)argv;
  int numbers[] = {1, 60, 3, argc};
  /* With a loop, both copies of main are in one function. */
  for (int i = 0; i < 4; ++i)
    if (numbers[i] > 50) /* ran */
      ++sink;            /* ran */
  printf("%d\n", sum(numbers, 4)); /* ran */
  sink = weigh(argc + 80);         /* ran */
  if (argc > 5)                    /* ran */
    sink = unused(argc);           /* not */
  stops(argc + 1);                 /* ran */
  puts("not here");                /* not */
  return 0;                        /* not */
}
