// Fails by a signal, a status, its output or its time, as its first argument says; odd numbers fail.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int odd(int n) { return n % 2; }
int main(int argc, char **argv) {
  int n = argc > 2 ? atoi(argv[2]) : 0;
  char word[16] = "";
  if (strcmp(argv[1], "input") == 0 && scanf("%15s", word) == 1) { puts(word); return 0; }
  if (strcmp(argv[1], "environment") == 0) {
    printf("%s %s\n", getenv("TELLTALE_RUN"), getenv("SAMPLER_FILE") ? "has SAMPLER_FILE" : "");
    return 0;
  }
  if (!odd(n)) { puts("even"); return 0; }
  if (strcmp(argv[1], "signal") == 0) abort();
  if (strcmp(argv[1], "status") == 0) return 3;
  if (strcmp(argv[1], "time") == 0) { puts("waits"); fflush(stdout); pause(); }
  puts("odd");
  return 0;
}
