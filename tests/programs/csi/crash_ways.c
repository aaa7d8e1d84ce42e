// Crashes in the way that the first argument names, in or below parse().
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum = 0;
static volatile int is_waiting = 0;

__attribute__((noinline)) static void end(const char *how, int value) {
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "kill") == 0) raise(SIGQUIT);
  *(volatile int *)0 = value;
}

__attribute__((noinline)) static int parse(const char *text, const char *how) {
  int value = 0;
  for (const char *at = text; *at != 0; ++at) {
    if (*at >= '0' && *at <= '9') {
      value = value * 10 + (*at - '0');
    } else if (*at == '-') {
      end(how, value);
    }
  }
  return value;
}

__attribute__((noinline)) static int recurse(int depth) {
  volatile char room[200];
  room[0] = (char)depth;
  if (depth % 3 == 0) sum = sum + 1;
  return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

static void *wait_for_ever(void *argument) {
  for (int i = 0; i < 4; ++i) {
    if (i == 2) {
      is_waiting = 1;
      pause();
    }
    sum = sum + 1;
  }
  return argument;
}

static void *parse_in_thread(void *how) {
  usleep(20000);
  sum = parse("31-", how);
  return how;
}

static void *recurse_in_thread(void *how) {
  sum = recurse(0);
  return how;
}

// Runs when the thread has ended, after what libraries had to do there.
static pthread_key_t at_end;
static void parse_at_end(void *how) { sum = parse("31-", how); }
static void *end_thread(void *how) {
  pthread_setspecific(at_end, how);
  return how;
}

static void on_signal(int number) {
  printf("own handler %d\n", number);
  fflush(stdout);
  _exit(5);
}

int main(int argc, char **argv) {
  char *how = argc > 1 ? argv[1] : "fault";
  pthread_t waiting;
  pthread_t crashing;
  if (strcmp(how, "handled") == 0) signal(SIGSEGV, on_signal);
  if (strcmp(how, "thread") == 0 || strcmp(how, "overflow-in-thread") == 0) {
    pthread_create(&waiting, NULL, wait_for_ever, NULL);
    while (!is_waiting) usleep(1000);
    usleep(20000);
    pthread_create(&crashing, NULL, how[0] == 't' ? parse_in_thread : recurse_in_thread, how);
    pthread_join(crashing, NULL);
  }
  if (strcmp(how, "ending-thread") == 0) {
    pthread_key_create(&at_end, parse_at_end);
    pthread_create(&crashing, NULL, end_thread, how);
    pthread_join(crashing, NULL);
  }
  if (strcmp(how, "overflow") == 0) return recurse(0);
  if (strcmp(how, "fork") == 0 && fork() != 0) {
    pause();
  }
  if (strcmp(how, "none") == 0) return parse("12", how) == 12 ? 0 : 1;
  return parse("12-", how);
}
