// Ends by a signal in `fails`. What else ran depends on the arguments: with one, `chosen` was called;
// with none, `other`, which calls `below_other`.
#define NOINLINE __attribute__((noinline))
volatile int sink;
void called_from_elsewhere(void);

NOINLINE static void chosen(void) { sink += 1; }
NOINLINE static void below_other(void) { sink += 2; }
NOINLINE static void other(void) {
  sink += 3;
  below_other();
}
NOINLINE static void in_both(int n) {
  if (n > 1) {
    sink += 4;
  } else {
    sink += 5;
  }
  sink += 6;
}
NOINLINE static void later(void) { sink += 7; }
NOINLINE void later_too(void) { sink += 8; }
NOINLINE static void in_a_table(void) { sink += 9; }
NOINLINE static void fails(int n) {
  for (int i = 0; i < n; ++i) sink += i;
  if (sink > 0) *(volatile int*)0 = n;
  later();
}

void (*volatile table[])(void) = {in_a_table};

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    chosen();
    in_both(argc);
  } else {
    other();
    in_both(argc);
  }
  fails(argc);
  later_too();
  if (argc > 90) table[0]();
  return 0;
}
