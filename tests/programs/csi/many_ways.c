// clang-format off: long lines.
void _exit(int);
volatile int sink;
// More than 2^24 ways lead to its end, so that paths are cut, without a loop before them.
#define STEP(bit) if (n & 1U << (bit)) sink = bit;
#define STEPS(first) STEP(first) STEP(first + 1) STEP(first + 2) STEP(first + 3) STEP(first + 4) STEP(first + 5) STEP(first + 6)
__attribute__((noinline)) int many_ways(unsigned n) {
  if (n == 0) return 1;
  STEPS(0)
  STEPS(7)
  STEPS(14)
  STEPS(21)
  return sink;
}


int main(int argc, char** argv) { (void)argv; int s = many_ways(argc - 1) + many_ways(0x5a5a5a5) + many_ways(~0U) + many_ways(0x1234567); _exit(s & 127); }
