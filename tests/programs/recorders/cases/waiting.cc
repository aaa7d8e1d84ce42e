#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__clang__)
#define UNSEEN __attribute__((xray_never_instrument))
#else
#define UNSEEN __attribute__((no_instrument_function))
#endif
UNSEEN static long now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}
[[gnu::noinline]] int leaf(int n) { return n + 1; }
[[gnu::noinline]] void rests() {
  usleep(20000);
  asm volatile("");  // no tail call
}
[[gnu::noinline]] void works() {
  const long end = now(CLOCK_THREAD_CPUTIME_ID) + 20000000;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) continue;
}
[[gnu::noinline]] void both() {
  rests();
  works();
  asm volatile("");
}
static void* thread(void*) {
  both();
  return nullptr;
}
int main(int argc, char** argv) {
  const int leaves = argc > 1 ? atoi(argv[1]) : 0;
  int sum = 0;
  for (int i = 0; i < leaves; ++i) sum += leaf(i);
  pthread_t other;
  pthread_create(&other, nullptr, thread, nullptr);
  both();
  pthread_join(other, nullptr);
  if (argc > 2 && fork() == 0) {
    rests();
    _exit(0);
  }
  if (argc > 2) wait(nullptr);
  return sum == -1;
}
