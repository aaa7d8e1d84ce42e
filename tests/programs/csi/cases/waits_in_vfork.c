// A thread waits in vfork() for its child, which waits for the end of standard input; the first thread waits for it.
#include <pthread.h>
#include <unistd.h>

static void* start(void* unused) {
  (void)unused;
  if (vfork() == 0) {
    char byte;
    write(1, "ready\n", 6);
    while (read(0, &byte, 1) > 0) continue;
    _exit(0);
  }
  return 0;
}

__attribute__((noinline)) int wait_for_child(int turns) {
  pthread_t thread;
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (i % 2 == 1)
      sum += 2;
    else
      sum += 5;
    if (i == turns - 1) {
      pthread_create(&thread, 0, start, 0);
      pthread_join(thread, 0);
    }
  }
  return sum;
}

int main(void) { return wait_for_child(5) == 19 ? 0 : 1; }
