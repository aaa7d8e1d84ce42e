/* Assignments that read what they write, with effects on the way. Prints what must not change. */
#include <stdio.h>

struct part {
  int n;
  signed char c;
  unsigned bit : 3;
  signed low : 4;
  _Bool is;
  float f;
  double d[2];
  int *p;
};

static struct part parts[3];
static int calls;
static int numbers[4] = {1, 2, 3, 4};
static int plain = 7;
static volatile unsigned short noisy = 65535;

static struct part *next(void) { return &parts[calls++ % 3]; }
static int *number(int i) {
  calls++;
  return &numbers[i];
}
static int change(int to) {
  int was = plain;
  plain = to;
  return was;
}

static void show(const char *what) {
  int i;
  printf("%s: calls %d plain %d noisy %d numbers %d %d %d %d\n", what, calls, plain, (int)noisy, numbers[0], numbers[1],
         numbers[2], numbers[3]);
  for (i = 0; i < 3; i++)
    printf("  %d %d %u %d %d %g %g %g %d\n", parts[i].n, parts[i].c, parts[i].bit, parts[i].low, parts[i].is, parts[i].f,
           parts[i].d[0], parts[i].d[1], parts[i].p == NULL ? -1 : (int)(parts[i].p - numbers));
}

int main(void) {
  int i = 0, local = 5;
  long long wide = 1;
  float real = 0.1f;
  _Bool truth = 0;
  const char *text = "abcdef";
  next()->n += 3;
  next()->n -= -4;
  next()->n++;
  show("fields");
  printf("%d %d\n", next()->n++, ++next()->n);
  next()->c += 200;
  next()->c <<= 3;
  show("narrow");
  printf("%u %u %d\n", parts[0].bit++, --parts[1].bit, parts[2].low += 9);
  printf("%d %d %d\n", parts[0].is++, ++parts[1].is, parts[2].is |= 4);
  show("bits");
  printf("%g %g\n", parts[0].f++, parts[1].d[1] -= 0.5);
  parts[i++].d[i] += i;
  parts[--i].d[i++] *= 3;
  show("floats");
  plain += change(100);
  show("order");
  plain = (plain += 2) + (local -= plain);
  *number(i) <<= *number(2);
  *number(3) %= 3;
  (*number(0))++;
  parts[0].p = numbers;
  parts[0].p += 2;
  *parts[0].p++ += 10;
  *--parts[0].p ^= 5;
  show("pointers");
  printf("%d %d\n", noisy++, (int)(noisy += 3));
  wide <<= 40;
  wide |= wide >> 3;
  real *= 3;
  real /= 0.7;
  truth += 2;
  printf("%lld %.9g %d %c%c %d\n", wide, real, truth, *text++, *++text, local);
  printf("%d\n", (local = 3, local++ + numbers[local] + --local));
  show("end");
  return 0;
}
