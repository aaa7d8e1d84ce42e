#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void handleSignal(int number) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), 1);
  _exit(number == SIGSEGV ? 0 : 1);
}
static int traverse_file(volatile int* at) {
  return *at + 1;
}
int main(void) {
  void* warm[1];
  backtrace(warm, 1);
  signal(SIGSEGV, handleSignal);
  int value = traverse_file(NULL);
  return value;
}
