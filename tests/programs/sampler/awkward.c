/* What two copies of a function must survive: jumps into loops, computed jumps, setjmp, statement expressions, variable
   arrays, switches through cases. Prints what it computed. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static int compare(const void *a, const void *b) { return *(const int *)a > *(const int *)b ? 1 : -1; }

static int jumps(int n) {
  int sum = 0, i = 0;
  if (n & 1) goto middle;
  for (i = 0; i < n; i++) {
    sum += i;
  middle:
    if (sum > 40) break;
    switch (i % 4) {
      case 0:
        sum += 2;
      case 1:
        sum ^= 1;
        break;
      case 2:
        if (sum == 9) continue;
      default:
        --sum;
    }
  }
  return sum;
}

static int computed(int n) {
  static void *const table[] = {&&one, &&two, &&stop};
  int count = 0;
  goto *table[n % 2];
one:
  count += 1;
  if (count > n) goto *table[2];
  goto *table[1];
two:
  count += 3;
  if (count > 2 * n) goto stop;
  goto *table[0];
stop:
  return count;
}

static int longjumps(int n) {
  volatile int tries = 0;
  int code = setjmp(place);
  tries++;
  if (code < n) longjmp(place, code + 1);
  return tries * 10 + code;
}

static int blocks(int n) {
  int sizes[n + 1];
  int total = 0;
  for (int i = 0; i <= n; i++) sizes[i] = ({ int t = i; t *= 3; if (t > 6) t = -t; t; });
  for (int i = 0; i <= n; i++) {
    int more[i + 1];
    more[i] = sizes[i];
    total += more[i] ?: 100;
  }
  return total;
}

int main(void) {
  int values[] = {5, 3, 9, 1};
  unsigned char wraps = 250;
  int post = 0;
  _Bool flag = 0;
  float f = 0.5f;
  for (int i = 0; i < 10; ++i) printf("%d %d %d %d\n", jumps(i), computed(i), longjumps(i), blocks(i));
  qsort(values, 4, sizeof values[0], compare);
  for (int i = 0; i < 10; i++) post += wraps++;
  flag++;
  flag += 4;
  f++;
  f -= 0.25f;
  post = post++ < 3 || (values[0]++, values[0] == 2) ? post : -post;
  printf("%d %d %d %d %g %d\n", values[0], values[3], post, flag, f, wraps);
  return 0;
}
