// A function with a frame of several thousand bytes is called and returns.
#define NOINLINE __attribute__((noinline))

NOINLINE int large(int n) {
  volatile char text[3000];
  text[2999] = (char)n;
  for (int i = 0; i < n % 4; ++i) text[i] = (char)(n + i);
  return n % 4 == 0 ? text[2999] : text[0];
}

int main(int argc, char** argv) {
  (void)argv;
  int sum = 0;
  for (int i = 0; i < 20 * argc; ++i) sum += large(i);
  return sum & 1;
}
