#include <unistd.h>
int main(int argc, char **argv) {
  void (*volatile end)(int) = _exit;
  if (argc > 1) end(3);
  return 0;
}
