/* count_to(rounds) is the only function with sites whose counts matter: in each round, a value is
   compared with many others, and one branch is taken. Prints how many rounds there were in all
   threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 40, kRounds = 20000 }; /* more threads than may have counters of their own */

void telltale_sampler_leaving_v1(void);

#define UNSEEN __attribute__((no_instrument_function))

__attribute__((noinline)) static long count_to(long rounds) {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, k = 9, n = 0;
  unsigned long p = 5, q = 6, r = 7;
  for (long i = 0; i < rounds; ++i) {
    n = (int)(i % 10);
    p = (unsigned long)i;
    if (n % 2 == 0) a += n;
  }
  return a + b + c + d + e + f + g + h + k + (long)(p + q + r);
}

static pthread_barrier_t counted;
static pthread_key_t key;

UNSEEN static void* ends(void* unused) {
  count_to(kRounds);
  return unused;
}

UNSEEN static void* stays(void* unused) {
  count_to(kRounds);
  pthread_barrier_wait(&counted);
  for (;;) pause();
  return unused;
}

UNSEEN static void in_destructor(void* value) {
  count_to(kRounds);
  if (value == &counted) pthread_setspecific(key, &key); /* once more */
}

UNSEEN static void* has_destructor(void* unused) {
  count_to(kRounds);
  pthread_setspecific(key, &counted);
  return unused;
}

UNSEEN static void run(void* (*routine)(void*), int count) {
  pthread_t threads[kThreads];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], 0, routine, 0);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], 0);
}

UNSEEN static void start_staying(int count) {
  pthread_barrier_init(&counted, 0, (unsigned)count + 1);
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, stays, 0);
    pthread_detach(thread);
  }
  pthread_barrier_wait(&counted);
}

UNSEEN int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : kThreads;
  long passes = (long)count * kRounds;
  setvbuf(stdout, 0, _IONBF, 0);
  if (strcmp(how, "end") == 0) {
    for (int i = 0; i < 3; ++i) run(ends, count);
    passes *= 3;
  } else if (strcmp(how, "destructors") == 0) {
    pthread_key_create(&key, in_destructor);
    run(has_destructor, count);
    passes *= 3;
  } else if (strcmp(how, "between") == 0) { /* reports while threads count */
    pthread_t threads[kThreads];
    for (int i = 0; i < count; ++i) pthread_create(&threads[i], 0, ends, 0);
    for (int i = 0; i < 50; ++i) telltale_sampler_leaving_v1();
    for (int i = 0; i < count; ++i) pthread_join(threads[i], 0);
  } else if (strcmp(how, "fork") == 0) {
    start_staying(count);
    const pid_t child = fork();
    if (child == 0) {
      count_to(7); /* in the child's own report */
      run(ends, count);
      exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
    count_to(kRounds);
    passes += kRounds;
  } else {
    start_staying(count);
    if (strcmp(how, "signal") == 0) {
      printf("passes %ld\n", passes);
      raise(SIGSEGV);
    }
  }
  printf("passes %ld\n", passes);
  exit(0); /* with threads that stay */
}
