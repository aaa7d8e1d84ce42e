/* Preloaded: of the writes to files (not to the standard ones) the one with the number DIE_AT sends the process the signal DIE_BY, before
   it writes anything. At the end COUNT_FILE gets how many there were. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int writes;

ssize_t write(int file, const void *bytes, size_t count) {
  static int at, by;
  if (file > 2) {
    if (writes == 0 && getenv("DIE_AT") != NULL) {
      at = atoi(getenv("DIE_AT"));
      by = atoi(getenv("DIE_BY"));
    }
    if (++writes == at) kill(getpid(), by);
  }
  return syscall(SYS_write, file, bytes, count);
}

__attribute__((destructor)) static void tell(void) {
  if (getenv("COUNT_FILE") == NULL) return;
  FILE *file = fopen(getenv("COUNT_FILE"), "w");
  fprintf(file, "%d\n", writes);
  fclose(file);
}
