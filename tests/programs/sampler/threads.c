/* Two threads that share sites: 1000000 passes, a tenth of them "true". */
#include <pthread.h>

static void *work(void *unused) {
  for (int i = 0; i < 500000; ++i) {
    if (i % 10 == 0) continue;
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  return 0;
}
