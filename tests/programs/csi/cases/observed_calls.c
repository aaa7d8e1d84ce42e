/* Functions that optimisation removes where the Sampler does not observe them, and keeps where it does. */
static volatile int sink = 3;

static void
does_nothing(void)
{
  /* nothing */
} /* ran */

static void
never_called(void)
{
  /* nothing */
} /* not */

static int constant(int number) {
  if (number > 5) /* ran */
    return sink;
  return number; /* ran */
}

static unsigned repeat(void) {
  unsigned sum = 0; /* ran */
  for (unsigned i = 0; i < 64; i++) {
    unsigned bits = i; /* ran */
    for (int j = 8; j > 0; j--) {
      if (bits & 1)
        bits = (bits >> 1) ^ 0xEDB88320u; /* ran */
      else
        bits >>= 1; /* ran */
    }
    sum += bits; /* ran */
  }
  return sum; /* ran */
}

static int returns_zero(int number) {
  (void)number;
  return 0; /* ran */
}

__attribute__((noinline)) void multiplies(int number) {
  int product = -214748365 * (number - 1); /* ran */
  if (product != -1932735285) /* ran */
    __builtin_abort(); /* not */
}

/* Nothing of it is left but the Sampler's check. */
static int calls_it(int *place) {
  returns_zero(*place); /* ran */
  multiplies(10); /* ran */
  return 0; /* ran */
}
static int (*volatile pointer)(int *) = calls_it;

/* With these arguments, nothing is left of their code that does not observe. */
void checks(int number) {
  if (number == 5) /* ran */
    __builtin_abort(); /* not */
}
void checks_too(int number) {
  if (number == 6) /* ran */
    __builtin_abort(); /* not */
}
void checks_again(int number) {
  if (number == 7) /* ran */
    __builtin_abort(); /* not */
}

int main(void) {
  checks(1); /* ran */
  checks_too(2); /* ran */
  checks_again(3); /* ran */
  int zero = 0; /* ran */
  does_nothing(); /* ran */
  unsigned sum = repeat() + zero; /* ran */
  if (sink == 4) never_called();
  sink = constant(3); /* ran */
  sink = (int)sum + pointer(&zero); /* ran */
  __builtin_trap();
}
