// Calls through a pointer of which the optimiser leaves nothing: it knows the function and the argument.
#include <stdlib.h>

static volatile int sink;

typedef int visitor(int what, int* value);

static int changed(int what, int* value) {
  switch (what) { // ran
    case 1:
      sink = *value; // not
      return 1; // not
    case 2:
      *value = sink; // not
      return 2; // not
    default:
      break;
  }
  return what * 2; // ran
}

static int counted(int what, int* value) {
  if (what == 1) // ran
    ++sink; // not
  return changed(what, value) + 1; // ran
}

static visitor* volatile kept = counted;

static void visit(visitor* call, int what, int* value) {
  call(what, value); // ran
}

int main(int argc, char** argv) {
  int value = 3; // ran
  if (argc < 5) // ran
    visit(counted, 3, &value); // ran
  else
    sink = kept(argc, &value); // not
  sink = argv != NULL && value == 3; // ran
  abort(); // ran
}
