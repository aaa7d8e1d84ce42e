// A crash below a frame of 126 KiB, and a function to each of whose blocks one way leads.
#define NOINLINE __attribute__((noinline))

NOINLINE int deep(int n) {
  volatile char text[126 * 1024];
  for (int i = 0; i < n; ++i) text[i] = (char)i;
  if (text[n - 1] == n - 1) __builtin_trap();  // the crash
  return text[0];
}

NOINLINE int shallow(int n) { return n * 2; }

NOINLINE int either(int n) {
  if (n > 3) {
    int value = deep(n);  // many
    return value + 1;
  }
  int value = shallow(n);  // few
  return value + 2;
}

int main(int argc, char** argv) {
  (void)argv;
  int sum = 0;
  for (int i = argc; i < 9; ++i) sum += either(i);  // sums
  return sum;
}
