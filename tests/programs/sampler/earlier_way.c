/* To be preloaded: handles the signal of the first environment variable in the way of the second, before anybody else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static char stack_memory[1 << 16];
static int times;

static void say(const char *what, long number) {
  char text[64];
  int at = sizeof text;
  const unsigned long magnitude = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
  text[--at] = '\n';
  for (unsigned long left = magnitude; at > 40; left /= 10) {
    text[--at] = (char)('0' + left % 10);
    if (left < 10) break;
  }
  if (number < 0) text[--at] = '-';
  if (write(1, what, strlen(what)) < 0 || write(1, text + at, sizeof text - (size_t)at) < 0) _Exit(3);
}

static void look(void) {
  const char here = 0;
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  say("on its own stack ", &here >= stack_memory && &here < stack_memory + sizeof stack_memory);
  for (int i = 1; i < 32; i++)
    if (sigismember(&mask, i)) say("blocked ", i);
  if (++times == 2) _Exit(44);
}

static void classic(int number) {
  say("classic ", number);
  look();
}

static void informed(int number, siginfo_t *info, void *context) {
  say("informed ", number);
  say("code ", info->si_code);
  say("from this process ", info->si_code <= 0 && info->si_pid == getpid());
  say("address ", info->si_code > 0 && number == SIGSEGV ? (long)info->si_addr : 0);
  say("usr2 was blocked ", sigismember(&((ucontext_t *)context)->uc_sigmask, SIGUSR2));
  look();
}

__attribute__((constructor)) static void first(void) {
  const char *const number = getenv("EARLIER_SIGNAL");
  const char *const way = getenv("EARLIER_WAY");
  struct sigaction action;
  stack_t stack;
  sigset_t usr2;
  if (number == NULL || way == NULL) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = strcmp(way, "ignored") == 0 ? SIG_IGN : strcmp(way, "default") == 0 ? SIG_DFL : classic;
  if (strcmp(way, "informed") == 0 || strcmp(way, "stack") == 0 || strcmp(way, "nodefer") == 0) {
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = informed;
  }
  if (strcmp(way, "stack") == 0) {
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = stack_memory;
    stack.ss_size = sizeof stack_memory;
    sigaltstack(&stack, NULL);
    action.sa_flags |= SA_ONSTACK;
  }
  if (strcmp(way, "once") == 0) action.sa_flags = (int)SA_RESETHAND;
  if (strcmp(way, "nodefer") == 0) {
    action.sa_flags |= SA_NODEFER;
    sigaddset(&action.sa_mask, SIGURG);
  }
  sigaction(atoi(number), &action, NULL);
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);
  sigprocmask(SIG_BLOCK, &usr2, NULL);
}
