/* Branches that optimisers turn into code without a branch, or into one call. Comments say what the call on the stack ran: "ran" or "not". */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void say(int number) {
  printf("%d\n", number);
  if (number < 0) abort();
}

__attribute__((noinline)) static int turn(void) {
  static int turns;
  return turns++;
}

__attribute__((noinline)) static int sum(const int* numbers, int count) {
  int total = 0;       /* ran */
  if (count > 100) {   /* ran */
    say(7);            /* not */
  }
  say(count); /* ran */
  for (int i = 0; i < count; ++i) {
    if (numbers[i] & 1) {  /* ran */
      total += numbers[i]; /* ran */
    } else {
      total -= 1; /* ran */
    }
  }
  for (int i = 0; i < 3; ++i) {
    switch (turn() & 3) { /* ran */
      case 0:
        say(9); /* ran */
        break;
      case 1:
        say(12); /* ran */
        break;
      case 3:
        say(14); /* not */
        break;
      default:
        say(15); /* ran */
    }
  }
  say(-total); /* ran */
  return total;
}

int main(int argc, char** argv) {
  (void)argv;
  const int numbers[] = {1, 3, 5, argc + 7};
  return sum(numbers, 4);
}
