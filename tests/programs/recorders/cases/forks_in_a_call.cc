// A child that begins inside of calls of its parent, some of which return in the child.
#include <sys/wait.h>
#include <unistd.h>

volatile int sink;

[[gnu::noinline]] void pauses() {
  usleep(200'000);
  sink = 1;
}
[[gnu::noinline]] int forks() {
  const int child = fork();
  if (child == 0) pauses();
  sink = 2;
  return child;
}

int main() {
  const int child = forks();
  pauses();
  if (child != 0) waitpid(child, nullptr, 0);
  return 0;
}
