/* Calls without a line in the first block of a function, where optimisers merge two calls, and of a path, where a test takes it away. */
#include <stdlib.h>
int first, second;
__attribute__((noinline)) static void stop(int value) {
  if (value > 1) abort();
}
__attribute__((noinline)) static int merged(int which) {
  first = 5;
  if (which) {  // before the calls
    stop(3);
  } else {
    stop(2);
  }
  second = 7;  // after the calls
  return first;
}
__attribute__((noinline)) static int turn(int turns) {
  int i = 0;
  do {
    stop(i);  // call
    second += i;  // after the call;
  } while (++i < turns);  // before the next turn
  return second;
}
int main(int argc, char** argv) {
  return argv[1][0] == 't' ? turn(argc + 3) + 1 : merged(argc > 2) + 1;
}
