#include <signal.h>
int main(int argc, char **argv) {
  (void)argv;
  if (argc) raise(SIGTERM);
  return 0;
}
