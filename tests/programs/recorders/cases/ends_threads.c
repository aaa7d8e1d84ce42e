/* Threads that end inside of calls, which a C program's functions do not notice. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void deep(int left) {
  if (left == 0) {
    usleep(2000);
    pthread_exit(0);
  }
  deep(left - 1);
  __asm__ volatile("");
}
__attribute__((noinline)) void* work(void* nothing) {
  deep(5);
  return nothing;
}
int main() {
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
  }
  return 0;
}
