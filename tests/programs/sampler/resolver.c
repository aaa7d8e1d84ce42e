/* What chooses an implementation runs before libc is there, and before the program's own beginnings. */
static int least_one(int x) { return x > 1 ? x : 1; }
static int least_two(int x) { return x > 2 ? x : 2; }

static int (*choose(void))(int) {
  int sum = 0;
  for (int i = 0; i < 10; i++)
    if (i % 3) sum += i;
  return sum > 5 ? least_one : least_two;
}

int least(int) __attribute__((ifunc("choose")));

int main(void) {
  int sum = 0;
  for (int i = 0; i < 1000; i++) sum += least(i);
  return sum == 499501 ? 0 : 1;
}
