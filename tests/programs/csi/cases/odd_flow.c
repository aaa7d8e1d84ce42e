/* Control flow of many kinds: computed goto, switches that fall through, macros with several statements in a line. It ends by exit(). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TWICE(a, b) do { a; b; } while (0)
#define MAX3(a, b, c) ((a) > (b) ? ((a) > (c) ? (a) : (c)) : ((b) > (c) ? (b) : (c)))
static volatile int sink;
static int table[8];
static int duff(int n) {
  int r = 0;
  switch (n % 4) {
    case 0:
      r++;
    case 3:
      r++;
    case 2:
      r++;
      break;
    case 1: {
      int z = r + 4;
      r = z;
    }
    default:
      r--;
  }
  return r;
}
static int gotos(int n) {
  int i = 0;
again:
  if (i < n) {
    i++;
    if (i == 5)
      goto out;
    goto again;
  }
  sink = i;
  return -1;
out:
  sink = 5;
  return i;
}
static int computed(int n) {
  static void *labels[] = {&&a, &&b, &&c};
  goto *labels[n % 3];
a:
  sink = 1;
  return 1;
b:
  sink = 2;
  return 2;
c:
  sink = 3;
  return 3;
}
static int early(const char *s) {
  if (!s)
    return -1;
  if (!*s)
    return 0;
  size_t n = strlen(s);
  if (n > 5 && s[0] == 'x')
    return 1;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == 'q')
      return (int)i;
    if (s[i] == 'z')
      break;
    if (s[i] == 'w')
      continue;
    table[i & 7]++;
  }
  return n > 3 ? table[1]
               : table[2];
}
static int shorts(int a, int b) {
  return a > 3 &&
         b > 4 &&
         gotos(a) > 2;
}
__attribute__((noreturn)) static void finish(int code) {
  printf("finish %d\n", code);
  exit(code);
}
static int nested(int n) {
  int r = 0;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      if ((i ^ j) == 3)
        goto done;
      r += i * j;
    }
done:
  return r;
}
static void handler(int s) {
  sink = s;
}
static inline int small(int x) { return x & 1 ? x + 1 : x - 1; }
static int recurse(int n) {
  if (n <= 0) {
    return 0;
  }
  return small(n) + recurse(n - 2);
}
int main(int argc, char **argv) {
  int total = 0;
  total += duff(3); total += duff(2);
  total += gotos(3);
  total += computed(1 + argc - 1);
  total += early("ab") + early("");
  total += early("abzq");
  total += shorts(5, argc);
  if (argc > 4) {
    total += duff(1);
  } else if (argc > 2)
    total += duff(0);
  TWICE(total++, total += nested(5));
  total += MAX3(total, argc, 4);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  total += recurse(7);
  do {
    total -= 3;
    if (total < 0)
      break;
  } while (total > 10);
  while (argc > 100)
    argc--;
  printf("%d\n", total);
  if (total == 12345)
    return 3;
  finish(0);
  sink = 99;
}
