/* Stacks that no unwind table describes completely; `how` says which. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void without_unwind_table(void (*function)(void));
static void (*volatile nowhere)(void);
static volatile int never;

__attribute__((noinline)) static void after(int how) {
  puts("after");
  if (how) puts("more");
}

static void crash(void) { *(volatile int *)0 = 1; }

__attribute__((noinline)) static void call_nowhere(int how) {
  if (how == 1) {
    nowhere = (void (*)(void))((long)never + 16);
    nowhere(); /* to an address without code */
    after(how);
  }
  puts("end");
}

__attribute__((noinline)) static void call_assembly(int how) {
  if (how == 2) {
    without_unwind_table(crash);
    after(how);
  }
  puts("end");
}

__attribute__((noinline)) static int overflow(const char *text) {
  char copy[16];
  strcpy(copy, text);
  for (int i = 0; copy[i]; ++i) {
    if (copy[i] == 'x')
      puts("x");
    else if (copy[i] == 'y')
      puts("y");
  }
  printf("last line of %c\n", copy[0]);
  return copy[0] == 'y'; /* the check comes after it */
}

int main(int argc, char **argv) {
  int how = argc > 1 ? atoi(argv[1]) : 0;
  char text[300];
  memset(text, 'a', sizeof text);
  text[how > 2 ? how : 3] = 0;
  for (int i = 0; i < 3; ++i) {
    call_nowhere(i == 2 ? how : 0);
    call_assembly(i == 2 ? how : 0);
  }
  return overflow(text);
}
