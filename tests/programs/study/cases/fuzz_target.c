#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static int depth(const uint8_t *data, size_t size) {
  int open = 0, most = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == '(') ++open;
    if (data[i] == ')') --open;
    if (open > most) most = open;
  }
  return most;
}
static volatile int sink;
static int room[4];
__attribute__((noinline)) static void store(int at) { ((volatile int *)room)[at * 100000000] = 1; sink = at; }
__attribute__((noinline)) static void divide(int a, int b) { sink = a / b; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  int nested = depth(data, size);
  if (nested >= 4) store(nested);  // bug 1
  if (size > 3 && data[0] == 'd' && data[1] == '/') {
    int by = data[2] - '0';
    divide(100, by);  // bug 2: d/0
    sink = 0;         // not a tail call
  }
  return 0;
}
#ifdef STANDALONE
int main(int argc, char **argv) {
  static uint8_t bytes[4096];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!file) return 2;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  LLVMFuzzerTestOneInput(bytes, size);
  return size % 2;
}
#endif
