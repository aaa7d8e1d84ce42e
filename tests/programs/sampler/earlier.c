/* To be preloaded: has handlers before anybody else. */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _Exit(3);
}

static void classic(int number) { say(number == SIGTERM ? "classic TERM\n" : "classic other\n"); }

static void informed(int number, siginfo_t *info, void *context) {
  stack_t stack;
  sigset_t mask;
  if (number != SIGSEGV || context == NULL) _Exit(4);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  sigaltstack(NULL, &stack);
  say(info->si_addr == NULL && info->si_code > 0 ? "fault at 0\n" : "fault elsewhere\n");
  if (sigismember(&mask, SIGUSR1)) say("mask kept\n");
  if (stack.ss_flags == SS_ONSTACK) say("on its stack\n");
  _Exit(44);
}

__attribute__((constructor)) static void first(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = informed;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, NULL);
  signal(SIGTERM, classic);
  signal(SIGINT, SIG_IGN);
}
