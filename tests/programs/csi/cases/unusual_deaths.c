/* Crashes in processes of which something is unusual; the argument says what. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int turns;

__attribute__((noinline)) static void crash(int count) {
  for (int i = 0; i < count; ++i) {
    if (i == 2) *(volatile int *)0 = 1;
    ++turns;
  }
}

static void *crash_soon(void *delay) {
  if (delay) usleep(100000);
  crash(4);
  return 0;
}

static void crash_in_thread(void *delay) {
  pthread_t thread;
  pthread_create(&thread, 0, crash_soon, delay);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "main has ended")) {
    crash_in_thread(argv);
    pthread_exit(0);
  }
  if (!strcmp(how, "signals are blocked")) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, 0);
    crash_in_thread(0);
    pause();
  }
  if (!strcmp(how, "a child has crashed")) {
    int status;
    pid_t child = vfork();
    if (child == 0) crash(4);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) return 1;
  }
  if (!strcmp(how, "files are limited")) {
    struct rlimit limit = {1024, 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  crash(4);
  return 0;
}
