/* Two threads pass a ball to and fro, 1,000 times each. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t turns[2];
static int ball;

static void *play(void *argument) {
  int me = argument == NULL ? 0 : 1;
  int i;
  for (i = 0; i < 1000; i++) {
    sem_wait(&turns[me]);
    ball = 2 * i + me;
    sem_post(&turns[1 - me]);
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  if (pthread_create(&other, NULL, play, &other) != 0) return 1;
  play(NULL);
  pthread_join(other, NULL);
  return ball == 1999 ? 0 : 2;
}
