#include "count.h"
int (*taken())(int);
int of_a(int n);
__attribute__((no_instrument_function, noinline)) int alone(int n) { return same(9, n); }
int main() {
  int sum = 0;
  for (int i = 0; i < 9000; i++) sum += of_a(i) - taken()(i) + (count(i) > 4) - alone(i);
  return taken() != count || sum < 1000;
}
