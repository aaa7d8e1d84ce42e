// The C library calls a function of the program when the program exits, and goes on for long after
// it has returned.
#include <stdio.h>
#include <stdlib.h>
volatile int sink;

static void at_exit(void) {
  for (int i = 0; i < 20; ++i) sink += i % 3 == 0 ? i : -i;
}

__attribute__((noinline)) static void leave(int status) {
  if (sink < 100) exit(status);
}

int main(int argc, char** argv) {
  static char buffer[1 << 12];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  atexit(at_exit);
  for (int i = 0; i < argc; ++i) puts(argv[i]);
  leave(argc - 1);
  return 1;
}
