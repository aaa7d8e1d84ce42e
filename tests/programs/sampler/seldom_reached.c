/* Code that is reached a few times in a run: inside hot loops, in functions that are called often,
 * and before and after all of that. */
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 1;

static unsigned draw(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* No loop; one call in some 30,000 is special. */
static int kind_of(unsigned number) {
  if (number % 30011 == 7) {
    int special = (int)(number / 30011);
    if (special > 100) return -1;
    return special;
  }
  if (number % 2 == 1) return 1;
  return 0;
}

/* A loop; one call in some 20,000 finds nothing. */
static int first_bit(unsigned number) {
  int at = 0;
  if (number % 20011 == 3) {
    int none = at - 1;
    return none;
  }
  while ((number & 1) == 0 && at < 24) {
    number >>= 1;
    at++;
  }
  return at;
}

static int parse(const char* text, int depth) {
  int value = 0;
  for (; *text != 0; text++) {
    if (*text == '(') {
      value += parse(text + 1, depth + 1);
      break;
    }
    if (*text < '0') return -depth;
    value = value * 10 + (*text - '0');
  }
  return value;
}

int main(int words, char** word) {
  int rounds = words > 1 ? atoi(word[1]) : 200000;
  if (rounds < 0) rounds = -rounds;
  long sum = 0;
  int negative = 0;
  for (int i = 0; i < rounds; i++) {
    int kind = kind_of(draw());
    if (kind < 0) negative++;
    sum += kind + first_bit(draw());
    if (i == rounds - 2) {
      int late = parse("12(34(5+6", 0);
      sum += late;
    }
  }
  int rest = (int)(sum % 1000);
  if (rest > 500) rest -= 500;
  printf("%ld %d %d\n", sum, negative, rest);
  return 0;
}
