// A signal handler makes the same assignment that it interrupts, at every instruction: the processor
// traps after each (x86-64). Prints how often the assignment began and how often it ended, which
// differ if the handler leaves by siglongjmp.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOT_OBSERVED __attribute__((no_instrument_function, noinline))

int o1 = 1, o2 = 2, o3 = 3, o4 = 4, o5 = 5, o6 = 6, o7 = 7, o8 = 8, o9 = 9;
int target;

__attribute__((noinline)) void assign(int value) { target = value; }

static sigjmp_buf place;
static long began, ended, traps, leave_at;

NOT_OBSERVED static void count(void) {
  ++began;
  assign(5);
  ++ended;
}

NOT_OBSERVED static void on_trap(int number) {
  (void)number;
  count();
  if (++traps == leave_at) siglongjmp(place, 1);
}

// The trap flag is cleared in the handler and set again when it returns.
NOT_OBSERVED static void count_in_steps(int times) {
  traps = 0;
  if (sigsetjmp(place, 1) != 0) return;
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
                   "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
  for (int i = 0; i < times; ++i) count();
  __asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
                   "lea 128(%%rsp), %%rsp" ::: "cc", "memory");
}

NOT_OBSERVED int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_trap};
  sigaction(SIGTRAP, &action, NULL);
  // Tallies are full after 255 observations, which the steps then show.
  for (int i = 0; i < 250; ++i) count();
  count_in_steps(20);
  const long last = argc > 1 ? atol(argv[1]) : 0;
  for (leave_at = 1; leave_at <= last; ++leave_at) count_in_steps(20);
  printf("%ld %ld\n", began, ended);
  return 0;
}
