// The compiler's own setjmp and longjmp, which are no calls.
#include <signal.h>

static void *place[5];
int sink;
static __attribute__((noinline)) void jumps(int n) {
  for (int i = 0; i < n; i++) sink += i;
  if (n < 100) __builtin_longjmp(place, 1);
  sink++;
}
int main(int argc, char **argv) {
  (void)argv;
  if (__builtin_setjmp(place) == 0) {
    jumps(argc);
    sink += 2;
  } else {
    sink += 3;
  }
  if (sink > 2) raise(SIGILL);
  return sink;
}
