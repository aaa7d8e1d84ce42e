/* Calls of `told` wherever C lets a call stand. Each call's result is used. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

int told(int n) { return n; }

struct Pair {
  int a, b;
  struct {
    int c;
  } in;
  int bits : 5;
};

static int sum_of(int count, ...) {
  va_list rest;
  va_start(rest, count);
  int sum = 0;
  while (count--) sum += va_arg(rest, int);
  va_end(rest);
  return sum;
}

static int lengths(int n) {
  int row[told(n) + 1];
  row[told(0)] = told(1);
  typedef int Row[told(2) * 2];
  Row other;
  other[0] = 2;
  return (int)(sizeof row / sizeof(int) + sizeof(Row) / sizeof(int)) + row[0] + other[0];
}

#define LARGER(x, y)          \
  ({                          \
    __auto_type first = (x);  \
    __auto_type second = (y); \
    first > second ? first : second; \
  })

static int initialised(void) {
  const int fixed = told(1);
  register int near = told(2);
  static int kept;
  kept = told(3);
  volatile int shown = told(4);
  _Atomic int whole = told(5);
  whole += told(6);
  atomic_fetch_add(&whole, told(7));
  struct Pair pair = {told(1), .b = told(2), .in = {told(3)}, .bits = told(4)};
  struct Pair* const other = &(struct Pair){told(5), told(6)};
  pair.bits += told(1);
  other->in.c = told(2);
  const struct Pair copy = *(told(1) ? &pair : other);
  int row[] = {[2] = told(1), told(2)};
  int(*const all)[4] = &row;
  (*all)[told(1)] = told(2);
  row[told(0)] += told(3);
  row[told(1)]++;
  --row[told(2)];
  const int square[2][2] = {{told(1)}, {told(2), told(3)}};
  enum { kNo, kYes } answer = told(1);
  const __int128 big = told(4);
  const _Bool is = told(2);
  const union {
    int i;
    float f;
  } either = {.i = told(3)};
  const char* const text = (char[]){told(65), 0};
  return fixed + near + kept + shown + whole + pair.a + other->b + copy.a + row[1] + square[1][1] +
         (int)answer + (int)big + is + either.i + text[told(0)];
}

static int expressions(void) {
  int s = sum_of(3, told(1), told(2), told(3)) + lengths(4);
  s += _Generic(s, int: told(2), default: 0);
  s += __builtin_choose_expr(1, told(2), 0);
  s += LARGER(told(1), told(2));
  s += ((void)told(1), told(2));
  s += told(0) ? told(1) : told(2);
  s += told(5) ?: 3;
  s += !told(1) + ~told(2) - -told(3);
  s += (told(1) && told(0)) || told(2);
  s += (told(1) < told(2)) + (told(1) == told(1));
  s += (int)__builtin_expect(told(1), 1);
  s += (char)told(300);
  s += (int)(told(3) * 1.5);
  const float _Complex point = told(1) + told(2) * I;
  s += (int)crealf(point);
  s += (s = told(4)) + told(1);
  const unsigned long wide = told(1) << told(2);
  const int row[] = {1, 2, 3};
  const int* const place = row + told(1);
  s += (int)wide + *(place + told(0)) + place[told(1)];
  s += ({
    if (told(1)) s++;
    told(2);
  });
  return s;
}

static int statements(void) {
  int s = 0;
  switch (told(2)) {
    case 1: s += told(1);
    case 2: s += told(2);
    case 3: s += told(3); break;
    default: s += told(4);
  }
  for (int i = told(0); i < told(3); i += told(1)) {
    if (i == told(1)) continue;
    s += told(i);
  }
  int left = told(3);
  while (left-- > told(0)) s += told(1);
  do s += told(2);
  while (s < told(40));
  const void* const places[] = {&&first, &&second};
  goto *places[told(0)];
first:
  s += told(1);
second:
  s += told(2);
  if (told(1))
    ;
  else
    s += told(2);
  if (told(0))
    s++;
  else if (told(1))
    s += told(3);
  jmp_buf back;
  const int times = setjmp(back);
  if (times < told(2)) longjmp(back, told(times + 1));
  return s + told(5);
}

int main(void) {
  printf("%d\n", initialised() + expressions() + statements());
  return 0;
}
