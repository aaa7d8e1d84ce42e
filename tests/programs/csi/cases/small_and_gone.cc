// At -O3 nothing is left of the small function where it ran; what is left did not run.
#include <cstdlib>

static int fuel;
int often = 3;

static void tick() {
  if (fuel < 0) std::abort();
}

using function = int (*)(int);

static int caught(int a) {
  try {
    if (often > 0) {
      int i = 4;
      do tick();
      while (--i > 0);
    }
  } catch (...) {
    return 1;
  }
  return a > 6 ? 10 : 11;
}

static function table[] = {caught, caught};

int main(int argc, char**) {
  fuel = argc * 40;
  return table[argc & 1](argc) == 4711;
}
