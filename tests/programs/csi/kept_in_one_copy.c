/* At -O3 the loop of `count` is decided beforehand (unswitched) by `report`: the copy that reports keeps the branch to the
   line of `above`, the other one has a selection of a value instead, and no trace of the line. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void stop(int value) {
  if (value > 1)
    abort();
}

__attribute__((noinline)) static void tell(int value) {
  if (value > 100 && write(2, &value, sizeof value) < 0)
    abort();
}

static volatile int stage;

__attribute__((noinline)) static int count(int report, int n, const int *values) {
  int above = 0;
  for (int i = 0; i < n; ++i) {
    if (values[i] > 2) {
      above = 7; /* ran */
      if (report)
        tell(values[i]);
    }
  }
  stage = 1;
  stop(above); /* stops here */
  stage = 2;   /* not reached */
  stage = 3;   /* not reached */
  return above + n;
}

int main(int argc, char **argv) {
  (void)argv;
  int values[] = {1, 2, 3, 4, 5, argc};
  return count(argc > 1, 6, values);
}
