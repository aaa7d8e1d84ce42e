// Threads start and end all the time, until the end of standard input.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static void* start(void* unused) { return unused; }

int main(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  write(1, "ready\n", 6);
  while (poll(&input, 1, 0) == 0) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i) pthread_create(threads + i, 0, start, 0);
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], 0);
  }
  return 0;
}
