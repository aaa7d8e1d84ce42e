// The first thread ends; another one waits for the end of standard input.
#include <pthread.h>
#include <unistd.h>

__attribute__((noinline)) int wait_for_end(int turns) {
  char byte = 0;
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (i % 2 == 1)
      sum += 2;
    else
      sum += 5;
    if (i == turns - 1) {
      write(1, "ready\n", 6);
      while (read(0, &byte, 1) > 0) continue;
    }
  }
  return sum;
}

static void* start(void* turns) {
  _exit(wait_for_end((int)(long)turns) == 19 ? 0 : 1);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, start, (void*)5L);
  pthread_exit(0);
}
