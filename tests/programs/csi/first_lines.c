// Functions that begin with a position of path tracing, before any instruction.
int a, b;

int f(int x) {
  if (x) a++;
  return x ? a : b;
}

int g(int x) {
  int n = 0;
  while (x > 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    n++;
  }
  return n;
}
