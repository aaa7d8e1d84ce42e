// Hangs in one of two functions; with a second argument, an alarm ends it. Odd numbers hang.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile int stop_first, stop_second;
static void on_alarm(int number) { (void)number; abort(); }
static int wait_first(int hangs) { int n = 0; if (hangs) while (!stop_first) n++; return n; }
static unsigned wait_second(unsigned start) {
  unsigned n = start;
  while (!stop_second) {
    if (n & 1) n = n * 3 + 1; else n = n / 2;
    if (n == 4) n = start + 7;
  }
  return n;
}
int main(int argc, char **argv) {
  int number = atoi(argv[1]);
  if (argc > 2) {
    struct itimerval soon = {{0, 0}, {0, 30000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  printf("%d\n", wait_first(number % 4 == 1));
  if (number % 4 == 3) printf("%u\n", wait_second((unsigned)number));
  return 0;
}
