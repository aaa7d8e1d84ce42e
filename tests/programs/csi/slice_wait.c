/* Waits in a call of the library: the seconds are what the slice is about. */
#include <stdio.h>
#include <unistd.h>

static void wait_for(unsigned seconds, int note) {
  printf("%d\n", note);
  fflush(stdout);
  while (seconds != 0) {      /* in the slice */
    seconds = sleep(seconds); /* in the slice: it waits here */
  }
}

int main(void) {
  unsigned seconds = 600; /* in the slice */
  int note = 7;
  wait_for(seconds, note); /* in the slice */
  return 0;
}
