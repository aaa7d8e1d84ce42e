/* Reads records, and counts those of a wrong kind, which are never forgotten. The bug, an overflow:
 * after 127 of them the counter is negative, and the next summary looks beside its table. */
#include <stdio.h>
#include <string.h>

#include "chance.h"

enum { kBytes = 32, kRecords = 4000, kEvery = 50 };

static const char few[] = "few";
static const char some[] = "some";
static const char many[] = "many";
static const char* const words[16] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                      few,  few,  some, some, some, many, many, many};
static signed char wrong_records;
static int records;

static void count_wrong(void) { wrong_records++; }

static int read_record(void) {
  char block[kBytes];
  int kind = chance_below(100) < 3 ? 9 : chance_below(4);
  int length = 1 + chance_below(kBytes - 2);
  records++;
  memset(block, 'a' + kind, (size_t)length);
  if (kind > 3) {
    count_wrong();
    return -1;
  }
  int sum = 0;
  for (int i = 0; i < length; i++) sum += block[i] - 'a';
  if (sum % 5 == 0) sum++;
  return sum;
}

static int summary(void) { return (int)strlen(words[(wrong_records >> 4) + 8]); }

int main(int count, char** arguments) {
  long sum = 0;
  begin_chance(count, arguments);
  for (int i = 0; i < kRecords; i++) {
    int value = read_record();
    if (value > 0) sum += value;
    if (i % kEvery == 0) sum += summary();
  }
  printf("%ld\n", sum);
  return 0;
}
