// An interpreter that keeps the address of the operation after the next one in a variable, and in one
// that it chooses from two labels. Such addresses must lead into the copy of the code that uses them.
#include <stdio.h>

__attribute__((noinline)) static unsigned interpret(const unsigned char *code, unsigned rounds) {
  static const void *const labels[] = {&&operation_0,  &&operation_1,  &&operation_2,  &&operation_3,
                                       &&operation_4,  &&operation_5,  &&operation_6,  &&operation_7,
                                       &&operation_8,  &&operation_9,  &&operation_10, &&operation_11,
                                       &&operation_12, &&operation_13, &&operation_14, &&operation_15};
  const unsigned char *next = code;
  unsigned sum = 1;
  const void *kept = labels[*next];
  const void *other = &&operation_0;
#define NEXT                \
  {                         \
    const void *to = kept;  \
    kept = labels[*++next]; \
    goto *to;               \
  }
  NEXT
operation_0:
  sum += 3;
  NEXT
operation_1:
  if (sum & 1) sum ^= 5;
  NEXT
operation_2:
  sum = sum * 33 + 1;
  other = sum % 2 ? &&operation_3 : &&operation_4;
  NEXT
operation_3:
  if (sum > 1000000) sum -= 999999;
  NEXT
operation_4:
  sum ^= sum >> 7;
  NEXT
operation_5:
  if (sum % 7 == 0) ++sum;
  NEXT
operation_6:
  if (rounds % 3 == 0) {
    sum += 6;
    goto *other;
  }
  NEXT
operation_7:
  if (--rounds != 0) next = code - 1;
  kept = labels[*++next];
  NEXT
operation_8:
  sum += 8;
  NEXT
operation_9:
  sum += 9;
  NEXT
operation_10:
  sum += 10;
  NEXT
operation_11:
  sum += 11;
  NEXT
operation_12:
  sum += 12;
  NEXT
operation_13:
  sum += 13;
  NEXT
operation_14:
  sum += 14;
  NEXT
operation_15:
  return sum;
}

int main(void) {
  const unsigned char code[] = {0, 1, 2, 5, 6, 1, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 15};
  printf("%u\n", interpret(code, 30000000));
  return 0;
}
