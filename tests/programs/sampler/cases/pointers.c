#include <stdio.h>
typedef int action(int n);
static int quiet(int n) { return n + 1; }
static int calm(int n) { return n + 2; }
static int loud(int n) { if (n > 1) n++; return n; }
static action *const table[] = {quiet, calm};
static action *variable = loud;
static struct { int n; action *run; } member = {3, quiet};
static action *escaped = quiet;
action *outside = calm;
action **leak = &escaped;
int by_table(int n) { if (n) n++; return table[n & 1](n); }
int by_local(int n) { action *f = quiet; if (n) f = calm; return f(n); }
int by_variable(int n) { if (n) variable = quiet; return variable(n); }
int by_member(int n) { if (n) n++; member.run = n ? quiet : 0; return member.run(n); }
static int applied(action *f, int n) { if (n) n++; return f(n); }
int by_extern(int n) { if (n) n++; return outside(n); }
int by_escape(int n) { if (n) n++; return escaped(n); }
int by_copy(int n) { action *copy[2] = {quiet, calm}; if (n) n++; return copy[n & 1](n); }
int main(void) {
  printf("%d\n", by_table(1) + by_local(1) + by_variable(1) + by_member(1) + applied(calm, 1) + by_extern(1) + by_escape(1) +
                   by_copy(1) + 3);
  return 0;
}
