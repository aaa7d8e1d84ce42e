// Ends as its first argument says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int work(int n) { return n > 2 ? n * 2 : n; }
int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "0";
  printf("%d\n", work(argc));
  fflush(stdout);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "fault") == 0) *(volatile int *)0 = work(3);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "fork") == 0) {
    if (fork() == 0) exit(5);
    wait(NULL);
    return 6;
  }
  return atoi(how);
}
