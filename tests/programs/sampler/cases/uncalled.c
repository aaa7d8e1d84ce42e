static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int sum(int n) {
  int all = 0;
  while (n-- > 0)
    if (n & 1) all += n;
  return all;
}
static int same(int n) { return n; }
int main(void) {
  (void)even;
  (void)sum;
  (void)same;
  return 0;
}
