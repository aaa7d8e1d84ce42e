#include <stdlib.h>

static inline int half(int value) {
  if (value % 2 != 0)
    abort();
  return value / 2;
}
