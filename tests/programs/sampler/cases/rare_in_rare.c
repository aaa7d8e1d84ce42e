// A loop that is inlined where a rare condition holds, so that its branch and what follows are rare.
#include <stdio.h>

static const char *rest = "   a  b c   d    e";

static int next(void) {
  int c = 0;
  do
    c = *rest ? *rest++ : -1;
  while (c == ' ');
  return c;
}

int main(int argc, char **argv) {
  int sum = 0;
  (void)argv;
  for (int i = 0; i < 40; i++) {
    if (i % 8 == 7 || argc == 9) {
      if (next() == 'c') sum += 5;
      if (i % 16 == 15 && next() > 'd') sum += 7;
    }
  }
  printf("%d\n", sum);
  return 0;
}
