// Prints its process id to standard error, then the number of each signal that it gets. Ends with status 7 at SIGTERM. "default": it
// handles none.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int is_end(int number) { return number == SIGTERM; }
int main(int argc, char **argv) {
  const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM};
  const int handles_none = argc > 1 && strcmp(argv[1], "default") == 0;
  sigset_t set;
  sigemptyset(&set);
  for (unsigned i = 0; !handles_none && i < sizeof numbers / sizeof *numbers; ++i) sigaddset(&set, numbers[i]);
  sigprocmask(SIG_BLOCK, &set, NULL);
  fprintf(stderr, "%d\n", (int)getpid());
  while (handles_none) pause();
  int number = 0;
  while (!is_end(number)) {
    sigwait(&set, &number);
    printf("%d\n", number);
    fflush(stdout);
  }
  return 7;
}
