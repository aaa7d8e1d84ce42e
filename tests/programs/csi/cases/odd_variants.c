/* Functions that are hard to copy, or whose arguments are hard to pass on. Each prints what it computes. */
#include <stdarg.h>
#include <stdio.h>

int steps_of_table(const char *code) {
  static void *const labels[] = {&&add, &&subtract, &&end};
  int value = 0;
  goto *labels[*code++ - '0'];
add:
  value += 1;
  goto *labels[*code++ - '0'];
subtract:
  value -= 1;
  goto *labels[*code++ - '0'];
end:
  return value;
}

/* The table is a variable, and local functions are never chosen by an ifunc. */
static __attribute__((noinline)) int steps_of_variable(const char *code) {
  static void *labels[] = {&&add, &&subtract, &&end};
  int value = 0;
  goto *labels[*code++ - '0'];
add:
  value += 1;
  goto *labels[*code++ - '0'];
subtract:
  value -= 1;
  goto *labels[*code++ - '0'];
end:
  return value;
}

/* Its table has no addresses, but what is between them. */
int steps_of_distances(const char *code) {
  static const int distances[] = {&&add - &&add, &&subtract - &&add, &&end - &&add};
  int value = 0;
  goto *(&&add + distances[*code++ - '0']);
add:
  value += 1;
  goto *(&&add + distances[*code++ - '0']);
subtract:
  value -= 1;
  goto *(&&add + distances[*code++ - '0']);
end:
  return value;
}

struct Big {
  long values[20];
};

__attribute__((noinline)) long odd_sum(struct Big big, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i)
    if (big.values[i] & 1) sum += big.values[i];
  return sum;
}

__attribute__((noinline)) int with_label_of_assembly(int n) {
  __asm__ volatile("label_of_assembly: nop");
  return n > 1 ? n : -n;
}

__attribute__((noinline)) int sum_of(int count, ...) {
  va_list values;
  int sum = 0;
  va_start(values, count);
  while (count-- > 0) sum += va_arg(values, int);
  va_end(values);
  return sum;
}

int main(int argc, char **argv) {
  (void)argv;
  struct Big big = {{1, 2, 3}};
  printf("%d %d %d\n", steps_of_table("00102"), steps_of_variable("0012"), steps_of_distances("11102"));
  printf("%ld %d %d\n", odd_sum(big, 20), with_label_of_assembly(argc), sum_of(3, 4, 5, 6));
  return 0;
}
