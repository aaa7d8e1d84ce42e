/* The Sampler copies a function, both copies end with the same code, and optimisation makes one block of it. No copy
 * then has a marker there. */
int last_code;

/* The computed jump keeps it from being inlined. */
void finish(int code) {
  static void *next = &&record;
  goto *next; /* ran */
record:
  last_code = code; /* ran */
} /* ran */

void never(int code) {
  static void *next = &&record;
  goto *next; /* not */
record:
  last_code = -code; /* not */
} /* not */

int main(int argc, char **argv) {
  (void)argv;
  finish(argc); /* ran */
  if (argc == 9)
    never(argc); /* not */
  __builtin_trap();
}
