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

/* Nothing of it is left but the Sampler's check. */
static int calls_it(int *place) {
  returns_zero(*place); /* ran */
  return 0; /* ran */
}
static int (*volatile pointer)(int *) = calls_it;

int main(void) {
  int zero = 0; /* ran */
  does_nothing(); /* ran */
  unsigned sum = repeat() + zero; /* ran */
  if (sink == 4) never_called();
  sink = constant(3); /* ran */
  sink = (int)sum + pointer(&zero); /* ran */
  __builtin_trap();
}
