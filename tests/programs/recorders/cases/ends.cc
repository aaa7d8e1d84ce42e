#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static sigjmp_buf back;
static void recover(int) { siglongjmp(back, 1); }
[[gnu::noinline]] int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
[[gnu::noinline]] void fault() { *reinterpret_cast<volatile int*>(0x10) = work(3); }
static void* worker(void* end) {
  work(5);
  pthread_setname_np(pthread_self(), "late name");  // after its first event
  if (strcmp(static_cast<char*>(end), "fault") == 0) fault();
  if (strcmp(static_cast<char*>(end), "abort") == 0) abort();
  if (strcmp(static_cast<char*>(end), "wait") == 0) {
    usleep(5000);
    work(5);
    kill(getpid(), SIGKILL);
  }
  return nullptr;
}
int main(int argc, char** argv) {
  char none[] = "";
  char* const end = argc > 1 ? argv[1] : none;
  if (strcmp(end, "recover") == 0) {
    signal(SIGSEGV, recover);
    if (sigsetjmp(back, 1) == 0) fault();
  }
  pthread_t thread;
  pthread_create(&thread, nullptr, worker, end);
  pthread_join(thread, nullptr);
  if (strcmp(end, "snapshot") == 0) raise(SIGUSR2);
  if (strcmp(end, "kill") == 0) kill(getpid(), SIGKILL);
  return strcmp(end, "seven") == 0 ? 7 : 0;
}
