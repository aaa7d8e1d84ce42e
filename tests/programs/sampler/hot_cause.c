/* Fails in one run of five, by what a branch deep in a hot loop does once: the argument is the run. */
#include <stdio.h>
#include <stdlib.h>
static unsigned state;
static unsigned draw(void) { state = state * 1664525u + 1013904223u; return state >> 8; }
static char *kept;
static int step(int n) {
  if (n == -1) { kept = NULL; return 1; }   /* the cause, deep in a hot loop */
  if (n % 3 == 0) return 2;
  return 3;
}
int main(int words, char **word) {
  state = (unsigned)atoi(word[1]) * 7919u;
  char text[8] = "text";
  int fails = draw() % 5 == 0, sum = 0;
  kept = text;
  for (int i = 0; i < 30000; i++) sum += step(i == 20000 && fails ? -1 : (int)(draw() % 100));
  if (words > 2) puts("odd");
  return sum + kept[0] > 1 << 30;
}
