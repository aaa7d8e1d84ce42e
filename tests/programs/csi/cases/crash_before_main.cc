// Crashes in the initialiser of a variable.
#include <cstdlib>

static int choose(int argument) {
  if (argument > 2) std::abort();
  return argument;
}

static const int chosen = choose(std::getenv("HOME") != nullptr ? 3 : 4);

int main() { return chosen; }
