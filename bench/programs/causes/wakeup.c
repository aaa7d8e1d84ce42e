/* Two threads wait for jobs. The bug, a wakeup: an urgent job wakes both, and a thread that was
 * woken does not look again whether there is a job. */
#include <pthread.h>
#include <stdio.h>

#include "chance.h"

enum { kJobs = 300 };

struct job {
  int size;
  struct job* next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static pthread_cond_t waits = PTHREAD_COND_INITIALIZER;
static struct job* first;
static int waiting;
static int done;
static long sum;

static struct job* take_job(void) {
  pthread_mutex_lock(&lock);
  if (first == NULL && !done) {
    waiting++;
    pthread_cond_signal(&waits);
    pthread_cond_wait(&added, &lock);
  }
  struct job* job = first;
  if (!done) first = job->next;
  pthread_mutex_unlock(&lock);
  return done ? NULL : job;
}

static int work(const struct job* job) {
  int steps = 0;
  for (int left = job->size; left > 1; left = left % 2 == 0 ? left / 2 : 3 * left + 1) steps++;
  return steps;
}

static void* run_worker(void* unused) {
  (void)unused;
  for (struct job* job = take_job(); job != NULL; job = take_job()) {
    __atomic_add_fetch(&sum, work(job), __ATOMIC_RELAXED);
    free(job);
  }
  return NULL;
}

static void add_job(int size, int is_urgent) {
  struct job* job = malloc(sizeof *job);
  if (job == NULL) exit(3);
  job->size = size;
  pthread_mutex_lock(&lock);
  while (waiting < 2) pthread_cond_wait(&waits, &lock);
  job->next = first;
  first = job;
  waiting -= is_urgent ? 2 : 1;
  if (is_urgent) {
    pthread_cond_broadcast(&added);
  } else {
    pthread_cond_signal(&added);
  }
  pthread_mutex_unlock(&lock);
}

int main(int count, char** arguments) {
  pthread_t workers[2];
  begin_chance(count, arguments);
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, run_worker, NULL);
  for (int i = 0; i < kJobs; i++) add_job(1 + chance_below(1000), chance_below(4 * kJobs) == 0);
  pthread_mutex_lock(&lock);
  while (waiting < 2) pthread_cond_wait(&waits, &lock);
  done = 1;
  pthread_cond_broadcast(&added);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
