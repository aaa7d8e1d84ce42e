#include <stdlib.h>
int checked(int n) {
  if (n % 2) abort();
  return n;
}
