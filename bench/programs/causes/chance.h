/* Numbers that depend on the run alone, for programs with a planted bug
 * (bench/sampler_evidence.py). */
#include <stdlib.h>

static unsigned long long chance_state;

static void begin_chance(int count, char** arguments) {
  chance_state = count > 1 ? strtoull(arguments[1], NULL, 10) * 2654435761U + 12345 : 1;
}

/* From 0 to limit - 1. */
static int chance_below(int limit) {
  chance_state = chance_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((chance_state >> 33) % (unsigned)limit);
}
