/* Constant limits, which are reached once in a hundred thousand times: the ends of tables and buffers, at which loops
 * seldom end, and what numbers are compared with. */
#include <stdio.h>

static char number[16];

static int copy_number(const char* text) {
  int length = 0;
  for (; length < (int)sizeof number - 1 && text[length] >= '0' && text[length] <= '9'; length++)
    number[length] = text[length];
  number[length] = 0;
  return length;
}

static int skip_word(const char* text) {
  for (unsigned i = 0; i < 32; i++) {
    switch (text[i]) {
      case ' ':
      case 0:
        return (int)i;
      case '#':
        goto comment;
      default:
        break;
    }
  }
  return -1;
comment:
  return 0;
}

static int find(const int* table, int wanted) {
  const int* at = table + 8;
  int left = 8;
  do {
    if (*--at == wanted) return left;
  } while (--left > 0);
  return -1;
}

static int is_listed(int wanted) {
  static const int table[] = {2, 3, 5, 7, 11, 13, 17, 19};
  return find(table, wanted) >= 0;
}

static int tries_until(int stop) {
  int tries = 0;
  for (; tries < 3; tries++) {
    if (tries == stop) break;
  }
  return tries;
}

static int shorten(int length) {
  if (length > 1000) return 1000;
  return length;
}

static long sum_of(const int* numbers, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) {
    if (500 <= numbers[i]) return -1;
    if (numbers[i] == 77) break;
    sum += numbers[i];
  }
  return sum;
}

int main(void) {
  /* What is looked for or compared, last once; no branch says so. */
  static const char* const numbers[] = {"12 ", "4711", "1234567890123456 "};
  static const char* const words[] = {"a word", "a#", "a_word_that_is_longer_than_the_32_characters"};
  static const int wanted[] = {17, 13, 4};
  static const int stops[] = {1, 2, 9};
  static const int lengths[] = {3, 700, 1001};
  static const int lists[][5] = {{1, 2, 3, 4, 5}, {76, 9, 31, 499, 8}, {3, 9, 7, 77, 2}};
  long sum = 0;
  for (int round = 0; round < 100000; round++) {
    const int now = round % 2 + (round == 77777);
    sum += copy_number(numbers[now]) + skip_word(words[now]) + is_listed(wanted[now]) + tries_until(stops[now]);
    sum += shorten(lengths[now]) + sum_of(lists[now], 5) + sum_of(lengths, now + 1);
  }
  printf("%ld\n", sum);
  return 0;
}
