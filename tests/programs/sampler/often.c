/* Sites of all schemes that count, passed so often that few of the passes tell how many there are. */
static int global;
static int* const shared = &global;
static float small_numbers[4] = {1.5F, -0.0F, 1e-40F, -2.0F};

static int helper(int n) { return n % 7 - 3; }

static double chosen(double by, int n) { return n % 3 == 0 ? by : by * 0.0; }

int main(int argc, char** argv) {
  double value = argv == 0;
  float narrow = 0;
  int last = 0;
  unsigned whole = 0;
  for (int i = 0; i < 12000; i++) {
    last = helper(i);
    global = last + i;
    value = chosen(i % 2 ? -1.5 : 2.5, i);
    narrow = small_numbers[i % 4];
    if (*shared % 4 == 0) last = global;
    if (last > argc && value < 0) whole = (unsigned)last;
  }
  return whole + narrow + value > 1e9;
}
