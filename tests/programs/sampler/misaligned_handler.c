/* Its own handler calls the one of SIGSEGV with a misaligned stack. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../misaligned_call.h"

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  info->si_signo = SIGSEGV;
  call_misaligned(SIGSEGV, info, context);
}

static int may_crash(int crashes) {
  if (crashes) raise(SIGUSR1);
  return crashes + 1;
}

int main(int argc, char** argv) {
  (void)argv;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  puts("begins");
  fflush(stdout);
  return may_crash(argc > 1);
}
