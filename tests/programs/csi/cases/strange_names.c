/* Functions whose symbols have control characters. Comments say what ran: "ran" or "not". */
#include <stdlib.h>

static volatile int one = 1;

__attribute__((noinline)) int called(int number) __asm__("called\there\\\n");
int called(int number) {
  if (number > 10) /* ran */
    one = 10; /* not */
  return number + one; /* ran */
}

__attribute__((noinline)) int taken(int number) __asm__("taken\there");
int taken(int number) {
  return number * one; /* ran */
}

__attribute__((noinline)) static int never(int number) __asm__("never\there");
static int never(int number) {
  return number - one; /* not */
}

int main(int argc, char** argv) {
  (void)argv;
  int (*volatile pointer)(int) = taken;
  int sum = called(argc); /* ran */
  sum += pointer(sum); /* ran */
  if (sum > 100) /* ran */
    sum += never(sum); /* not */
  abort(); /* ran */
}
