/* All threads end by pthread_exit or by returning, at about the same time; the process ends with the last of them. Arguments:
   number of threads, and what records: "all", "first" or "others". Output is buffered until then. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void step(int number) { __asm__ volatile("" ::"r"(number)); }
#ifdef __clang__
#define NOT_RECORDED __attribute__((xray_never_instrument))
#else
#define NOT_RECORDED __attribute__((no_instrument_function))
#endif
static int others_record = 0;
NOT_RECORDED static void* work(void* nothing) {
  if (others_record) step(1);
  printf("worked\n");
  return nothing;
}
NOT_RECORDED static void farewell(void) { printf("all are gone\n"); }
NOT_RECORDED int main(int count, char** arguments) {
  (void)count;
  atexit(farewell);
  others_record = strcmp(arguments[2], "first") != 0;
  pthread_t thread;
  for (int left = atoi(arguments[1]); left > 0; --left) {
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
  }
  if (strcmp(arguments[2], "others") != 0) step(0);
  pthread_exit(0);
}
