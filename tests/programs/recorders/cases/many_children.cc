// Argument: how many children are forked, each of which makes a call.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

[[gnu::noinline]] void work() { asm volatile(""); }

int main(int, char** words) {
  for (int i = 0; i < std::atoi(words[1]); ++i) {
    if (fork() != 0) {
      wait(nullptr);
      continue;
    }
    work();
    _exit(0);
  }
  return 0;
}
