/* A function whose first executions are in the parent, and again in the child. */
#include <sys/wait.h>
#include <unistd.h>

static int seen;

__attribute__((noinline)) static int work(int n) {
  if (n > 3) seen++;
  return seen;
}

int main(void) {
  for (int i = 0; i < 100; i++) work(i);
  if (fork() == 0) {
    work(7);
    work(1);
    return 0;
  }
  wait(0);
  return 0;
}
