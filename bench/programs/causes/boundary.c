/* Keeps messages in slots. The bug, a boundary: a message that is too long is cut to the size of a
 * slot, and its final zero is written behind it, over the kind of the message. */
#include <stdio.h>
#include <string.h>

#include "chance.h"

enum { kSlots = 64, kBytes = 24 };

struct slot {
  char text[kBytes];
  unsigned char kind;
};

static struct slot slots[kSlots];
static const int weight[] = {1, 3, 7};
static const int* const weights[] = {NULL, &weight[0], &weight[1], &weight[2]};
static int longest = kBytes;

static int make_message(char* text) {
  int length = 1 + chance_below(chance_below(1200) == 0 ? 40 : 20);
  for (int i = 0; i < length; i++) text[i] = (char)('a' + chance_below(26));
  return length;
}

static void keep(const char* text, int length, int number) {
  struct slot* slot = &slots[number % kSlots];
  slot->kind = (unsigned char)(1 + number % 3);
  if (length > longest) length = longest;
  memcpy(slot->text, text, (size_t)length);
  char* end = slot->text + length;
  *end = 0;
}

static int count_letter(char letter, int kept) {
  int found = 0;
  for (int i = 0; i < kSlots && i < kept; i++) {
    for (const char* at = slots[i].text; *at != 0; at++)
      if (*at == letter) found += *weights[slots[i].kind];
  }
  return found;
}

int main(int count, char** arguments) {
  char text[64];
  long sum = 0;
  begin_chance(count, arguments);
  for (int number = 0; number < 600; number++) {
    int length = make_message(text);
    keep(text, length, number);
    if (number % 3 == 0) sum += count_letter((char)('a' + chance_below(26)), number + 1);
  }
  printf("%ld\n", sum);
  return 0;
}
