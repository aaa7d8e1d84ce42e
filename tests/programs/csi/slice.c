/* What the crash in sum() depends on is marked: "in the slice"; what is marked "unrelated" must not be there, "did not
   run" and "overwritten" only without evidence of the run, and "at -O0" may be computed by the compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
  int key;
  int *value;
  struct item *next;
};

static int bound;
static int calls;
static int log_level;

static __attribute__((noinline)) struct item *make(int key, int *value, struct item *next) {
  struct item *made = malloc(sizeof *made); /* in the slice */
  made->key = key;                          /* in the slice */
  made->value = value;                      /* in the slice */
  made->next = next;                        /* in the slice */
  ++calls;                                  /* unrelated */
  return made;                              /* in the slice */
}

static __attribute__((noinline)) void set_bound(int to) {
  bound = to; /* in the slice */
}

static __attribute__((noinline)) void set_log_level(int to) {
  log_level = to; /* unrelated */
}

static __attribute__((noinline)) int twice(int number) {
  return 2 * number; /* in the slice */
}

static __attribute__((noinline)) int thrice(int number) {
  return 3 * number; /* unrelated */
}

static __attribute__((noinline)) int sum(struct item *list, int limit) {
  int total = 0;
  int shown = 0;                                         /* unrelated */
  for (struct item *at = list; at != NULL; at = at->next) { /* in the slice */
    shown += 5;                                          /* unrelated */
    if (at->key < limit)                                 /* in the slice */
      total += *at->value; /* in the slice: it stops here */
  }
  printf("%d shown\n", shown); /* unrelated */
  return total;                /* unrelated */
}

int main(int argc, char **argv) {
  int one = 1;                                 /* in the slice */
  int number = thrice(argc);                   /* unrelated */
  int *third = &one;                           /* overwritten */
  int limit = twice(argc);                     /* in the slice */
  set_log_level(argc);                         /* unrelated */
  if (argc > 1) {
    limit = atoi(argv[1]);                     /* did not run */
    set_log_level(limit);                      /* unrelated */
  }
  set_bound(limit + 7);                        /* in the slice */
  if (bound > 5)                               /* in the slice */
    third = NULL;                              /* at -O0 */
  struct item *list = make(1, &one, NULL);     /* in the slice */
  list = make(3, third, list);                 /* in the slice */
  number += 4;                                 /* unrelated */
  printf("%d %d %d\n", number, calls, log_level); /* unrelated */
  int result = sum(list, bound);               /* in the slice */
  printf("%d\n", result);                      /* unrelated */
  return 0;
}
