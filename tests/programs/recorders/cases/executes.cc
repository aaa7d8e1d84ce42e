// Calls only_a() five times, or, built with -DB, only_b() seven times; then executes the program that the argument names.
#include <unistd.h>

#ifdef B
__attribute__((noinline)) void only_b() { asm volatile(""); }
#define CALL only_b
#define TIMES 7
#else
__attribute__((noinline)) void only_a() { asm volatile(""); }
#define CALL only_a
#define TIMES 5
#endif

int main(int argc, char** argv) {
  for (int i = 0; i < TIMES; ++i) CALL();
  return argc > 1 ? execl(argv[1], argv[1], static_cast<char*>(nullptr)) : 0;
}
