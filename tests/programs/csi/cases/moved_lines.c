/* Lines of which the optimiser moves, merges or removes the instructions. */
#include <stdio.h>
#include <stdlib.h>

static int sunk_first, sunk_second;
static const char *volatile path = "abc";

__attribute__((noinline)) static int above(int value, int limit) { return value > limit; }
__attribute__((noinline)) static void say(const char *text) {
  if (text[0] == '?') puts("asked");
}

static inline void clear(int *flag) {
  if (*flag) {
    say("clear");
    *flag = 0;
  }
}

/* The argument is loaded where clear() uses it. */
__attribute__((noinline)) static void sinks(void) {
  clear(&sunk_first);
  say("between");
  clear(&sunk_second);
  say("behind");
}

/* The second condition is known after the first. */
__attribute__((noinline)) static void threads(int value) {
  int is_bad = 0;
  if (above(value, 100)) {
    say("bad");
    is_bad = above(value + 1, 3);
    say("really");
  }
  if (is_bad)
    say("failed");
  say("done");
}

/* The address of the next character is computed before the loop. */
__attribute__((noinline)) static const char *hoists(const char *text) {
  const char *at = text;
  while (*at == '/')
    at++;
  const char *base = at;
  for (; *at; at++)
    if (at[0] == '/' && at[1])
      base = at + 1;
  return base;
}

int squared(int x) {
  if (x > 10)
    return x * x;
  return 0;
}

/* Both calls are replaced by their results. */
__attribute__((noinline)) static int folds(int value) {
  int sum = squared(12);
  if (value > 50)
    sum += squared(3);
  return sum;
}

/* Both branches become one instruction. */
__attribute__((noinline)) static int selects(int value) {
  int low = 0, high = 256;
  do {
    int middle = (low + high) >> 1;
    if (value >= middle)
      low = middle;
    else
      high = middle;
  } while (high - low != 1);
  return low;
}

int main(int argc, char **argv) {
  int how = argc > 1 ? atoi(argv[1]) : 1;
  sinks();
  threads(how);
  printf("%s %d %d\n", hoists(path), folds(how), selects(how));
  if (how > 1000)
    exit(squared(how) > 7);
  return 0;
}
