// A program that handles its fatal signals itself, in the way that its argument names, and prints
// what it sees.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// signal() of programs in strict ISO C.
sighandler_t __sysv_signal(int signal, sighandler_t handler);

static char* page;
static struct sigaction first;

static void say(const char* text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0) _exit(9);
}

static void say_fault(const siginfo_t* info) {
  say(info != NULL && info->si_addr == page + 6 ? "handled the fault\n" : "handled\n");
}

static void by_sigaction(int number, siginfo_t* info, void* context) {
  (void)context;
  say_fault(info);
  struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_RESETHAND | SA_ONSTACK};
  sigaction(number, &action, NULL);
  if (kill(getpid(), number) != 0) say("no signal\n");
}

static void by_signal(int number) {
  say("handled\n");
  if (signal(number, SIG_DFL) != by_signal) say("another handler\n");
  raise(number);
}

static void restores(int number) {
  say("handled\n");
  sigaction(number, &first, NULL);
}

static void defaults(int number) {
  say("handled\n");
  signal(number, SIG_DFL);
}

static void only_says(int number) {
  (void)number;
  say("handled\n");
}

static void informed(int number, siginfo_t* info, void* context) {
  (void)context;
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  say_fault(info);
  say(sigismember(&blocked, SIGUSR2) == 1 ? "USR2 is blocked\n" : "USR2 is not blocked\n");
  say(sigismember(&blocked, number) == 1 ? "it is blocked\n" : "it is not blocked\n");
}

static void repairs(int number) {
  (void)number;
  say("repaired\n");
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void leaves(int number) {
  say("left\n");
  _exit(number);
}

static void set_informed(int number, int flags) {
  struct sigaction action = {.sa_sigaction = informed, .sa_flags = flags | SA_SIGINFO};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(number, &action, NULL);
}

// What the program sees of its own actions.
static void ask(int number) {
  struct sigaction seen;
  sigaction(number, NULL, &seen);
  printf("default %d flags %x\n", seen.sa_handler == SIG_DFL, (unsigned)seen.sa_flags);
  set_informed(number, SA_RESETHAND | SA_NODEFER);
  sigaction(number, NULL, &seen);
  printf("informed %d flags %x USR2 %d\n", seen.sa_sigaction == informed,
         (unsigned)seen.sa_flags & ~0x4000000U, sigismember(&seen.sa_mask, SIGUSR2));
  printf("signal %d\n", (void*)signal(number, only_says) == (void*)informed);
  printf("signal %d\n", signal(number, SIG_IGN) == only_says);
  printf("ignored %d\n", signal(number, SIG_DFL) == SIG_IGN);
  printf("default %d\n", signal(number, SIG_DFL) == SIG_DFL);
  printf("sysv %d\n", __sysv_signal(number, only_says) != SIG_ERR);
  printf("sysv %d\n", __sysv_signal(number, SIG_DFL) == only_says);
  printf("errors %d %d\n", signal(number, SIG_ERR) == SIG_ERR, signal(-1, SIG_DFL) == SIG_ERR);
  printf("errors %d %d\n", sigaction(SIGKILL, &seen, NULL), sigaction(1000, NULL, &seen));
  signal(number, SIG_IGN);
  raise(number);
  puts("survived");
  signal(number, SIG_DFL);
  fflush(stdout);
}

// Signals that are sent are ignored; a fault ends the program all the same.
static void ignore(int by_sigaction) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  if (by_sigaction) {
    sigaction(SIGSEGV, &action, NULL);
  } else {
    signal(SIGSEGV, SIG_IGN);
  }
  raise(SIGSEGV);
  if (kill(getpid(), SIGSEGV) != 0) say("no signal\n");
  sigaction(SIGSEGV, NULL, &action);
  say(action.sa_handler == SIG_IGN ? "ignored\n" : "not ignored\n");
}

__attribute__((noinline)) int fault(int times) {
  for (int i = 0; i < times; ++i) page[i + 6] = 'x';
  return page[times];
}

static void* fault_in_thread(void* times) {
  fault(*(int*)times);
  return NULL;
}

static void set(const char* way) {
  struct sigaction action = {.sa_sigaction = by_sigaction, .sa_flags = SA_SIGINFO};
  if (strcmp(way, "sigaction") == 0) sigaction(SIGSEGV, &action, NULL);
  if (strcmp(way, "nodefer") == 0) {
    action.sa_flags |= SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
  }
  if (strcmp(way, "signal") == 0 || strcmp(way, "thread") == 0) signal(SIGSEGV, by_signal);
  if (strcmp(way, "restores") == 0) {
    action.sa_flags = 0;
    action.sa_handler = restores;
    sigaction(SIGSEGV, &action, &first);
  }
  if (strcmp(way, "defaults") == 0) signal(SIGSEGV, defaults);
  if (strcmp(way, "sysv") == 0) __sysv_signal(SIGSEGV, only_says);
  if (strcmp(way, "once") == 0) set_informed(SIGSEGV, SA_RESETHAND);
  if (strcmp(way, "once-nodefer") == 0) set_informed(SIGSEGV, SA_RESETHAND | SA_NODEFER);
  if (strcmp(way, "repairs") == 0) signal(SIGSEGV, repairs);
  if (strcmp(way, "leaves") == 0) signal(SIGSEGV, leaves);
  if (strcmp(way, "ignores") == 0) ignore(0);
  if (strcmp(way, "ignores-sigaction") == 0) ignore(1);
  if (strcmp(way, "asks") == 0) ask(SIGSEGV);
  if (strcmp(way, "asks-abort") == 0) ask(SIGABRT);
}

int main(int count, char** arguments) {
  const char* const way = arguments[count - 1];
  int times = count;
  page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  set(way);
  if (strcmp(way, "child") == 0) {
    signal(SIGSEGV, by_signal);
    const pid_t child = fork();
    if (child == 0) fault(times);
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WTERMSIG(status));
    return 0;
  }
  if (strcmp(way, "abort") == 0) {
    signal(SIGABRT, only_says);
    abort();
  }
  // As servers do, to show what they are doing.
  if (strcmp(way, "title") == 0) memset(arguments[0], 'T', strlen(arguments[0]));
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, fault_in_thread, &times);
    pthread_join(thread, NULL);
  }
  return fault(times);
}
