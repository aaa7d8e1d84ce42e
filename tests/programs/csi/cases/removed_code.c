/* Code that optimisers remove, with calls and whole copies of loops. Comments say what ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

static int counts[64];
static int table[8];
static volatile int input;
static int written[8]; /* nothing reads it */

/* Its result is not used. */
__attribute__((noinline)) int weigh(int a, int b) {
  if (a > b)      /* ran */
    return a * 3; /* not */
  return b * b;   /* ran */
}

/* Nothing is left of it where `step` is inlined. */
static inline void clear(int* state) { *state = 0; /* ran */ }
static inline void finish(int* state) {
  clear(state); /* ran */
}
int step(int* state, int limit) {
  const int value = *state; /* ran */
  if (value >= limit) {     /* ran */
    finish(state);          /* ran */
    return value * 2;       /* ran */
  }
  *state = value + 1; /* not */
  return value;       /* not */
}

/* The loop has two copies; in the one that runs, only the count of turns is left. */
static int turn(int count) {
  int at = count;
  for (int i = 0; i < 16; i++) {
    if (count == 5) {       /* ran */
      counts[at & 63] += i; /* not */
    }
    at += 2; /* ran */
  }
  return at; /* ran */
}

/* Whether the inner loop begins decides everything. */
static int find(int a) {
  int b = input;
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < (a & 7); j++) { /* ran */
      return a;                         /* ran */
    }
    b ^= i; /* not */
  }
  input = 3; /* not */
  return b;  /* not */
}

/* Of the copy of both loops that runs, nothing is left. */
__attribute__((noinline)) int write_only(int a) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 16; j++) {
      written[a & 1] ^= a; /* ran */
    }
    switch (a & 7) { /* ran */
      case 7:
        return a; /* not */
    }
  }
  return 0; /* ran */
}

/* The same with something after them. */
__attribute__((noinline)) int write_more(int a) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 16; j++) {
      written[a & 1] ^= a; /* ran */
    }
    switch (a & 7) { /* ran */
      case 7:
        return a; /* not */
    }
  }
  input = 1; /* ran */
  return 0;  /* ran */
}

static inline int sum(int a) {
  int total = 0;
  for (int i = 0; i < (a & 15); i++) {
    total += i * a; /* ran */
  }
  return total; /* ran */
}
/* Memory that nobody else sees, and a call without a use. */
__attribute__((noinline)) void fill(int a) {
  const int b = a - 7;
  int c = a;
  for (int i = 0; i < 16; i++) {
    int* all = malloc(64); /* ran */
    for (int j = 0; j < 16; j++) {
      all[j] = a; /* ran */
    }
    c ^= all[3];          /* ran */
    free(all);            /* ran */
    sum(a);               /* ran */
    if (b > 0 && c > b) { /* ran */
      counts[1] ^= b;     /* not */
    }
  }
  input = 5; /* ran */
}

/* Becomes its final value. */
static int once(int a) {
  const int b = a + 1; /* ran */
  return b + a;        /* ran */
}
static int thrice(int a) {
  int c = a;
  for (int i = 0; i < 3; i++) {
    c += once(a); /* ran */
  }
  return c; /* ran */
}
int other(int a) { return once(table[a & 7]); /* not */ }
static int (*volatile pointer)(int) = thrice;

int main(int argc, char** argv) {
  (void)argv;
  int state = argc;
  const int weight = weigh(argc, 7); /* ran */
  const int got = step(&state, 0);   /* ran */
  const int turned = turn(argc);     /* ran */
  const int found = find(argc);      /* ran */
  fill(argc);                        /* ran */
  state += write_only(argc);         /* ran */
  state += write_more(argc);         /* ran */
  table[argc & 7] += pointer(argc);  /* ran */
  if (argc > 7) printf("%d %d %d\n", weight, turned, found);
  printf("%d\n", got); /* ran */
  abort();             /* ran */
}
