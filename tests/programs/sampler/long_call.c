// An interpreter with computed jumps. One call of it runs the whole program: a loop of seven
// instructions, then others once each, and so on. Prints a checksum.
#include <stdio.h>

enum { kRare = 10, kLoop = 6, kCount, kRepeat, kEnd };
enum { kFirstRare = kEnd + 1, kOperations = kFirstRare + kRare };

#define NEXT goto* labels[*++next]
#define RARE(number)                                         \
  operation_##number : if (sum != (number)) sum += (number); \
  NEXT;

__attribute__((noinline)) static unsigned interpret(const unsigned char* code, unsigned rounds,
                                                    unsigned times) {
  static const void* const labels[] = {
      &&operation_0,  &&operation_1,  &&operation_2,  &&operation_3,  &&operation_4,
      &&operation_5,  &&operation_6,  &&operation_7,  &&operation_8,  &&operation_9,
      &&operation_10, &&operation_11, &&operation_12, &&operation_13, &&operation_14,
      &&operation_15, &&operation_16, &&operation_17, &&operation_18, &&operation_19};
  const unsigned char* next = code;
  unsigned sum = 1;
  unsigned left = times;
  goto* labels[*next];
operation_0:
  sum += 3;
  NEXT;
operation_1:
  if (sum & 1) sum ^= 5;
  NEXT;
operation_2:
  sum = sum * 33 + 1;
  NEXT;
operation_3:
  if (sum > 1000000) sum -= 999999;
  NEXT;
operation_4:
  sum ^= sum >> 7;
  NEXT;
operation_5:
  if (sum % 7 == 0) ++sum;
  NEXT;
operation_6:
  if (--left != 0) next = code - 1;
  NEXT;
operation_7:
  sum += 7;
  NEXT;
operation_8:
  left = times;
  if (--rounds != 0) next = code - 1;
  NEXT;
operation_9:
  return sum;
  RARE(10) RARE(11) RARE(12) RARE(13) RARE(14) RARE(15) RARE(16) RARE(17) RARE(18) RARE(19)
}

int main(void) {
  unsigned char code[kOperations];
  for (unsigned i = 0; i < kRepeat - 1; ++i) code[i] = (unsigned char)i;
  for (unsigned i = 0; i < kRare; ++i) code[kCount + i] = (unsigned char)(kFirstRare + i);
  code[kCount + kRare] = kRepeat;
  code[kCount + kRare + 1] = kEnd;
  printf("%u\n", interpret(code, 3, 2000000));
  return 0;
}
