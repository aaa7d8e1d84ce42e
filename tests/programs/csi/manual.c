/* The example of CSI's manual: its published .debug_PT has this control flow and these lines. */
int printf(const char *, ...);
int rand(void) {
  static unsigned seed = 1;
  return (seed = seed * 1103515245 + 12345) & 7;
}

int main(void) {
  int x = 0, sum = 0;
  while (sum < 40) {
    x = rand();
    sum = sum + x;
    if (x > 4)
      printf("large\n");
    else
      /* With an else of its own line. */
      printf("small\n");
    sum = sum + 1;
  }
  printf("%d\n", sum);
  return x;
}
