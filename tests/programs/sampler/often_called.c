/* Functions with loops, called often: by value, from each other, by themselves, and left by
 * longjmp. */
#include <setjmp.h>
#include <stdio.h>

struct wide {
  long numbers[6];
  double part;
};

static jmp_buf back;

static unsigned bits(unsigned n) {
  unsigned found = 0;
  while (n > 0) {
    if (n & 1) found++;
    n >>= 1;
  }
  return found;
}

static struct wide sum_of(struct wide one, struct wide two) {
  struct wide sum = one;
  for (int i = 0; i < 6; i++) {
    if (two.numbers[i] > i) sum.numbers[i] += two.numbers[i];
  }
  sum.part += two.part;
  return sum;
}

static long double steps(long double from, int n, int a, int b, int c, int d, int e) {
  for (int i = 0; i < n; i++) {
    if (i % 2 == 0) from += a + b - c;
    if (i % 3 == 0) from += d - e;
  }
  return from;
}

static int interpret(const char* code) {
  static const void* const table[] = {&&add, &&twice, &&stop};
  const void* again = &&twice;
  int value = 0;
  goto* table[*code++ - '0'];
add:
  if (value % 3 == 1) value += 2;
  value++;
  goto* table[*code++ - '0'];
twice:
  value *= 2;
  if (value > 100) value %= 100;
  if (value == 6) {
    value++;
    goto* again;
  }
  goto* table[*code++ - '0'];
stop:
  return value;
}

static int depth_of(int n) {
  int deepest = 0;
  for (int i = 1; i < 3 && i < n; i++) {
    int one = depth_of(n - i);
    if (one > deepest) deepest = one;
  }
  return deepest + 1;
}

static void find(unsigned n) {
  for (unsigned i = 2; i <= n; i++) {
    if (n % i == 0) longjmp(back, (int)i);
  }
}

static unsigned divisor(unsigned n) {
  int found = setjmp(back);
  if (found == 0) find(n);
  return (unsigned)found;
}

int main(void) {
  struct wide all = {{0}, 0};
  unsigned total = 0;
  for (unsigned i = 2; i < 6000; i++) {
    struct wide one = {{i % 5, i % 3, i % 7, i % 2, i % 11, i % 13}, i / 2.0};
    all = sum_of(all, one);
    total += bits(i) + divisor(i % 50 + 2);
    total += (unsigned)interpret(i % 2 ? "0010111002" : "0102");
    if (i % 40 == 0) total += (unsigned)depth_of(9);
    total += (unsigned)steps(0.5L, (int)(i % 4), 7, 8, 3, 9, 1);
  }
  printf("%u %ld %ld %g\n", total, all.numbers[2], all.numbers[5], all.part);
  return 0;
}
