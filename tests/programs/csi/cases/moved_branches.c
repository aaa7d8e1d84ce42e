// Branches that optimisation moves in front of loops, and branches that it makes a choice between
// values in one copy of a loop, while another copy keeps them.
#include <stdio.h>
#include <stdlib.h>

static const char* volatile unknown;
static const char* name;
static int table[64];
const char* pager;

__attribute__((noinline)) static void unswitched(int n, int flag) {
  for (int i = 0; i < n; i++) {
    pager = unknown;
    if (!pager) {
      pager = "more";
      if (flag)
        puts("flag");
    }
    puts(pager);
  }
}

__attribute__((noinline)) static void unrolled(int n, int k) {
  for (int i = 0; i < 3; i++) {
    pager = getenv("NO_SUCH_PAGER");
    if (!pager) {
      pager = "less";
      if (i == 2 && k > 8)
        puts("last");
    }
    puts(pager);
    if (n > 0)
      break;
  }
}

__attribute__((noinline)) static int leaves_at_once(int n, int m) {
  int i = 0;
  for (i = 0; i < m; i++) {
    if (n > 2)
      break;
    table[n & 63] = i;
    name = getenv("NO_SUCH_NAME");
    if (!name)
      name = "none";
  }
  table[1] = n + m;
  return n;
}

__attribute__((noinline)) static int never_leaves(int n, int m) {
  for (int i = 0; i < m; i++) {
    if (n > 2)
      return i;
    printf("%d\n", i);
  }
  return m;
}

int main(int argc, char** argv) {
  unswitched(argc, argc > 5);
  unrolled(argc, argc + 2);
  const int sum = leaves_at_once(argc + 3, argc * 3) + never_leaves(argc, 2) + never_leaves(argc + 9, 2);
  pager = getenv("NO_SUCH_PAGER");
  if (!pager)
    pager = "most";
  for (int i = 0; i < argc; i++)
    if (argv[i][0] != 'x')
      puts(pager);
  return sum > 100;
}
