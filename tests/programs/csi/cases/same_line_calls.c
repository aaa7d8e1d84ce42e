// Several calls of a function on a line, of which the optimiser removes one and inlines another.
#include <stdlib.h>

static volatile int sink;

static __attribute__((const)) int weight(int kind) {
  unsigned hash = 5; // ran
  if (kind > 100) { // ran
    for (int i = 0; i < kind; ++i) // ran
      hash = hash * 33 ^ (unsigned)i; // ran
    return (int)hash; // ran
  }
  return kind * 3; // ran
}

#define ONE_OF(a, b) (weight(a), weight(b))

int main(int argc, char** argv) {
  int total = 0; // ran
  total += (weight(200), weight(argc)); // ran
  total += ONE_OF(200, argc + 8); // ran
  sink = total; // ran
  if (total == 4711) // ran
    total += ONE_OF(3, argc); // not
  sink = argv == NULL ? total : 2; // ran
  abort(); // ran
}
