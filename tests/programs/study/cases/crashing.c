#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) static int use(const char *text) { return *(volatile const char *)text; }
static inline int inlined(const char *text) { return use(text); }
__attribute__((noinline)) static int left(const char *text) { return inlined(text) + 1; }
__attribute__((noinline)) static int right(const char *text) { return use(text) + 2; }
__attribute__((noinline)) static int deep(int n) { if (n == 0) abort(); return deep(n - 1) + n; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int kind = n % 6;
  if (kind == 0) return left((const char *)8);
  if (kind == 1) return right((const char *)8);
  if (kind == 2) return deep(n);
  if (kind == 3) return 3;
  if (n == 4) for (;;) pause();
  return argc > 9;
}
