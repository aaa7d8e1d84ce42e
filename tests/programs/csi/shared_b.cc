#include "shared.h"
static int same(int n) { return n > 1 ? n * 5 : n; }
int other(int n) {
  if (n < 0) return 0;
  return shared(n + 3) + same(n) + larger(n) + of_header(n + 2) - 3;
}
