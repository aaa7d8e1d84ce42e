#include <sys/wait.h>
#include <unistd.h>

#include <telltale/stacktrack.hpp>

int main() {
  TELLTALE_STEP("parent");
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return 0;
  }
  TELLTALE_STEP("child");
}
