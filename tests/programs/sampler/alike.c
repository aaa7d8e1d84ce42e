/* Eight threads that do the same work: what one observes tells nothing of what another does. */
#include <pthread.h>

enum { kThreads = 8, kPasses = 4000 };

static void *work(void *unused) {
  for (int i = 0; i < kPasses; ++i) {
    if (i % 2 == 0) continue;
    if (i % 3 == 0) continue;
    if (i % 5 < 2) continue;
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
  return 0;
}
