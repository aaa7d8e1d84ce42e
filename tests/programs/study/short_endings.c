// C and C++. Ends without exit(), or nearly so, as its first argument says.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __cplusplus
#include <cstdlib>
struct Guard {
  ~Guard() { puts("unwound"); }
};
#endif
// The program itself, a library, or code that is not instrumented.
#ifdef __cplusplus
extern "C"
#endif
void end_by(const char *how, int status);
static const char *how;
static int is(const char *name) { return strcmp(how, name) == 0; }
static int handled(int n) { return n > 2 ? 1 : 0; }
static void counts(void) { handled(3); }
static void ends_soon(void) { _exit(21); }
static void ends(void) { exit(22); }
static void ends_quickly(void) { quick_exit(23); }
static void ends_in_signal(int number) { _exit(number == SIGALRM ? 24 : 1); }
static void ends_after_exit(int status, void *more) { _exit(status + (more == NULL)); }
static void *ends_in_thread(void *status) {
  _exit((int)(size_t)status);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[8];
  int status = 0;
  how = argc > 1 ? argv[1] : "";
  end_by(how, 3);
  if (is("large")) _exit(256 + 5);
  if (is("negative")) quick_exit(-1);
  if (is("handler")) {
    at_quick_exit(counts);
    quick_exit(6);
  }
  if (is("handler _exit")) {
    at_quick_exit(ends_soon);
    quick_exit(6);
  }
  if (is("handler exit")) {
    at_quick_exit(ends);
    quick_exit(6);
  }
  if (is("handler quick_exit")) {
    at_quick_exit(ends_quickly);
    quick_exit(6);
  }
  if (is("atexit _exit")) {
    atexit(ends_soon);
    exit(6);
  }
  if (is("on_exit _exit")) {
    on_exit(ends_after_exit, NULL);
    exit(6);
  }
  if (is("signal")) {
    signal(SIGALRM, ends_in_signal);
    raise(SIGALRM);
  }
  if (is("crash")) {
    signal(SIGSEGV, ends_in_signal);
    *(volatile int *)NULL = 1;
  }
  if (is("threads")) {
    for (size_t i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, ends_in_thread, (void *)(i + 30));
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  }
  if (is("fork")) {
    if (fork() == 0) _exit(7);
    wait(&status);
    quick_exit(WEXITSTATUS(status) + 1);
  }
  if (is("vfork")) {
    if (vfork() == 0) _exit(9);
    wait(&status);
    return WEXITSTATUS(status) + 1;
  }
  if (is("killed after vfork")) {
    if (vfork() == 0) _exit(9);
    raise(SIGKILL);
  }
  if (is("exec")) execl("/bin/true", "true", (char *)NULL);
  if (is("noexec")) {
    execl("/nowhere", "nowhere", (char *)NULL);
    _exit(127);
  }
  if (is("daemon")) return daemon(1, 1) + 11;
#ifdef __cplusplus
  if (is("std::_Exit")) std::_Exit(12);
  if (is("std::quick_exit")) std::quick_exit(13);
  if (is("invoke")) {
    const Guard guard;  // _exit() may throw, for all the compiler knows
    _exit(14);
  }
#endif
  return 1;
}
