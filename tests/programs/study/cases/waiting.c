#include <stdlib.h>
#include <unistd.h>
static int waits(int n) { return n % 10 == 0; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int odd = n % 2;
  if (odd) n += 2 * odd - 2;
  if (waits(n)) usleep(300000);
  if (n % 7 == 0) abort();
  return 3;
}
