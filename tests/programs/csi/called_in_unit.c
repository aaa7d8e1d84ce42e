// Functions that main calls by name. With TAKEN, code elsewhere could have the address of one.
#include <stdlib.h>

static __attribute__((noinline)) int called(int number) {
  __asm__ volatile("");
  return number + 1;
}
static __attribute__((noinline)) int not_called(int number) {
  __asm__ volatile("");
  return number - 1;
}
#ifdef TAKEN
int (*volatile taken)(int) = called;
#endif

int main(int argc, char** argv) {
  (void)argv;
  const int number = argc > 100 ? not_called(argc) : called(argc);
  if (number > 0) abort();
}
