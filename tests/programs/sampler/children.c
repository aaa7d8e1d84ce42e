/* A server of a kind: calls a function with a loop often enough for turns to begin, then forks
 * sixty children, each of which calls it three times. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) unsigned bits(unsigned n) {
  unsigned found = 0;
  for (unsigned i = 0; i < 2000; i++) {
    if (n >> (i % 32) & 1) found++;
  }
  return found;
}

int main(void) {
  unsigned total = 0;
  for (unsigned i = 0; i < 200; i++) total += bits(i);
  for (unsigned child = 0; child < 60; child++) {
    pid_t process = fork();
    if (process < 0) return 1;
    if (process == 0) {
      for (unsigned i = 0; i < 3; i++) total += bits(child + i);
      return total == 0;
    }
    int status = 0;
    if (waitpid(process, &status, 0) < 0 || status != 0) return 2;
  }
  printf("%u\n", total);
  return 0;
}
