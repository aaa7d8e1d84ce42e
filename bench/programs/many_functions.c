// path_isolate.py repeats what is between the marks, with other numbers.
#include <stdlib.h>

static int total;

static void wrong(void) { total = -1; }
static void right(void) { total = 1; }

static int f0(int x) { return x + 1; }

// begin
static int f1(int x) {
  enum { number = 1 };
  int y = 0;
  for (int k = 0; k < 2; ++k) {
    if ((x + k) % 3 == number % 3)
      y += x ^ number;
    else
      y -= k + number;
  }
  if (x > 0 && y % 2 == 0)
    y += f0(x - 1);
  else if (x > 4)
    y *= 3;
  total += y;
  return y;
}
// end

// Fails if the argument is a multiple of 3.
int main(int count, char **words) {
  const int mode = count > 1 ? atoi(words[1]) : 0;
  // begin
  f1(mode % 7);
  // end
  if (mode % 3 == 0)
    wrong();  // here
  else
    right();
  return total < 0;
}
