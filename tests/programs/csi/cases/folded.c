/* Functions with equal code, which `--icf=all` of lld puts at one address: of each pair, one runs. The argument chooses. */
#include <stdlib.h>

volatile int sink;
static volatile int stops = 1;
int of_other_file(int number);

__attribute__((noinline)) static void ends(void) {
  if (stops) abort();
}

__attribute__((noinline)) int first(int number) {
  if (number > 5) sink = number;
  ends();
  return number + 1;
}

__attribute__((noinline)) int second(int number) {
  if (number > 5) sink = number;
  ends();
  return number + 1;
}

__attribute__((noinline)) int different(int number) {
  sink += number;
  return number + 2;
}

/* As that of folded_too.c. */
__attribute__((noinline)) static int local(int number) {
  if (number > 5) sink = number;
  if (sink != 77) abort();
  return number + 3;
}

int main(int argc, char **argv) {
  (void)argv;
  int result = different(argc);
  switch (argc) {
    case 1: result += first(argc); break;
    case 2: result += second(argc); break;
    case 3: result += local(argc + sink); break;
    default: result += of_other_file(argc); break;
  }
  sink = result;
  return 0;
}
