#include <stdio.h>
#include <stdlib.h>
int checked(int n);
static int use(int n) { return n > 1 ? checked(n) + 1 : checked(n); }
int main(int argc, char **argv) {
  (void)argc;
  return use(atoi(argv[1])) < 0;
}
