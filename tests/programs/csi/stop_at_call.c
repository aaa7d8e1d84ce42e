// tick() ends the program at the call whose number STOP_AT says. Compiled alone, without
// instrumentation, so that no compiler knows what it does.
#include <stdlib.h>

void tick(void) {
  static long left = -1;
  if (left < 0) {
    const char* number = getenv("STOP_AT");
    left = number != NULL ? atol(number) : 0;
  }
  if (left > 0 && --left == 0) abort();
}
