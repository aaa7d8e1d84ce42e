/* Loops over tables and buffers of constant size, which end earlier a hundred thousand times, and at the limit once. */
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

int main(void) {
  /* What is looked for in these loops, last once; no branch says so. */
  static const char* const numbers[] = {"12 ", "4711", "1234567890123456 "};
  static const char* const words[] = {"a word", "a#", "a_word_that_is_longer_than_the_32_characters"};
  static const int wanted[] = {17, 13, 4};
  static const int stops[] = {1, 2, 9};
  long sum = 0;
  for (int round = 0; round < 100000; round++) {
    const int now = round % 2 + (round == 77777);
    sum += copy_number(numbers[now]) + skip_word(words[now]) + is_listed(wanted[now]) + tries_until(stops[now]);
  }
  printf("%ld\n", sum);
  return 0;
}
