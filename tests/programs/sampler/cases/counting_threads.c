#include <pthread.h>
#include <stddef.h>
static int sum[2];
/* each in its thread */
void *odd(void *n) { for (int x = 0; x < 17000; x++) if (x % 10 == 0) sum[0]++; return n; }
void *even(void *n) { for (int y = 0; y < 12000; y++) if (y % 5 == 0) sum[1]++; return n; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, odd, NULL);
  pthread_create(&b, NULL, even, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return sum[0] - 1700 + sum[1] - 2400;
}
