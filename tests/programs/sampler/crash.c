/* Ends as its first argument says, a few calls deep; a second argument installs a handler of its own first. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;
static int dive(int n) {
  volatile char room[4096];
  room[0] = (char)n;
  return n < 0 ? 0 : dive(n + 1) + room[0];
}

static void own_handler(int number) {
  (void)number;
  if (write(1, "own handler\n", 12) < 0) _exit(2);
  _exit(42);
}

static int fail(const char *how) {
  if (strcmp(how, "segv") == 0) *(volatile int *)(long)zero = 1;
  if (strcmp(how, "fpe") == 0) return 1 / zero;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "stack") == 0) return dive(0);
  if (strcmp(how, "bus") == 0) raise(SIGBUS);
  if (strcmp(how, "trap") == 0) __builtin_trap();
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "int") == 0) raise(SIGINT);
  if (strcmp(how, "hup") == 0) kill(getpid(), SIGHUP);
  if (strcmp(how, "quit") == 0) raise(SIGQUIT);
  if (strcmp(how, "sys") == 0) raise(SIGSYS);
  if (strcmp(how, "xcpu") == 0) raise(SIGXCPU);
  if (strcmp(how, "xfsz") == 0) raise(SIGXFSZ);
  if (strcmp(how, "pipe") == 0) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    close(ends[0]);
    return write(ends[1], "", 1) == 1;
  }
  return 0;
}

static void *in_thread(void *how) {
  if (strcmp(how, "none") != 0) fail(how);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[2], "own") == 0) signal(SIGSEGV, own_handler);
  if (argc > 2 && strcmp(argv[2], "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, argv[1]);
    pthread_join(thread, NULL);
    return 0;
  }
  if (strcmp(argv[1], "exit") == 0) exit(7);
  if (strcmp(argv[1], "fork") == 0) {
    const int child = fork();
    if (child == 0) return fail("none") + 3;
    return fail("none");
  }
  if (strcmp(argv[1], "daemon") == 0) return daemon(1, 1) + fail("none");
  if (strcmp(argv[1], "exec") == 0) execl("/bin/true", "true", (char *)NULL);
  if (strcmp(argv[1], "noexec") == 0) execl("/nowhere", "nowhere", (char *)NULL);
  if (strcmp(argv[1], "_exit") == 0) _exit(5);
  if (strcmp(argv[1], "quick") == 0) quick_exit(6);
  if (strcmp(argv[1], "vfork") == 0) {
    int status = 0;
    if (vfork() == 0) _exit(9);
    wait(&status);
    return WEXITSTATUS(status);
  }
  return fail(argv[1]);
}
