#include <pthread.h>
int seen;
void *count(void *limit) {
  int i;
  for (i = 0; i < 1000; i++) { if (i == 7) __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED); }
  return 0;
}
int threads_answer(int n) {
  pthread_t two[2];
  int i;
  for (i = 0; i < 2; i++) pthread_create(&two[i], 0, count, 0);
  for (i = 0; i < 2; i++) pthread_join(two[i], 0);
  return seen;
}
