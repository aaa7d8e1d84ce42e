/* Errors that sanitizers find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static int fill(char* text, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (i % 2)
      text[i] = 'x';
    else
      text[i] = 'y';
    sum += text[i];
  }
  return sum;
}

__attribute__((noinline)) static void leak(int count) {
  for (int i = 0; i < count; ++i) {
    volatile char* lost = (char*)malloc(10);
    *lost = 1;
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  char* text = (char*)malloc(10);
  volatile int sum = 0x7fffff00;
  if (!strcmp(how, "overflow")) return fill(text, 11);
  if (!strcmp(how, "undefined")) sum += fill(text, 10);
  if (!strcmp(how, "signal")) return fill((char*)16, 1);
  if (!strcmp(how, "leak")) leak(100);
  if (!strcmp(how, "freed")) {
    free(text);
    return fill(text, 10);
  }
  sum = fill(text, 10);
  free(text);
  puts("done");
  return 0;
}
