/* Every scheme, in C: the lines and counters are in schemes.c.expected. */
#include <stdlib.h>

int early = 3;
static unsigned char small = 200;
enum color { RED, GREEN };

static int five(void) { return 5; }
static int minus(int n) { return -n; }
static char *nothing(void) { return NULL; }

static int decide(int a, int b, const char *s) {
  int hits = 0;
  if (a && b > 1) hits++;
  if (!(a || b)) hits += 10;
  while (s && *s) s++;
  do {
    --a;
  } while (a > 0 && !(a == 2));
  for (; b; b--) hits = b ? hits : -1;
  while (1) break;
  return hits > 0 ? hits : 0;
}

int counter;

static void pairs(int formal) {
  int unset;
  int set = 7;
  char *p = NULL;
  char *q = p;
  set = formal;
  if (formal) unset = 2;
  set = 1;
  counter += set;
  (void)unset;
  (void)q;
}

int late;

static float halve(float value, double unused) {
  float zero = 0;
  double big = 1e300;
  big *= 1e300;
  zero = -zero;
  value /= 2;
  (void)unused;
  return value;
}

static void ranges(int n) {
  long wide = n;
  unsigned char byte = 0;
  enum color paint = RED;
  int old;
  for (byte = 250; byte != 3; byte++) wide -= 1000;
  old = n++ + 1;
  paint = GREEN;
  (void)paint;
  (void)old;
  (void)wide;
  small = 1;
}

static int recurse(int n) { return n == 0 ? 0 : 1 + recurse(n - 1); }

int main(void) {
  int (*pointer)(int) = minus;
  five();
  if (five() == 5) pointer(3);
  nothing();
  free(malloc(1));
  decide(0, 0, "");
  decide(4, 2, "ab");
  pairs(0);
  pairs(9);
  halve(3, 0);
  ranges(5);
  recurse(2);
  switch (early) {
    case 3:
      early = 4;
      break;
    default:
      exit(1);
  }
  return late;
}
