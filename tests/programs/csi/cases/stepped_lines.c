/* Each line that has a store notes that it ran, so that a run instruction by instruction knows what ran without any positions. */
#define RAN (ran[__LINE__] = 1)
volatile char ran[100];
volatile int input = 3;
int table[16];

__attribute__((noinline)) static int small(int number) {
  RAN;
  if (number % 2 != 0) {
    RAN;
    return number;
  }
  RAN;
  return number / 2;
}

static inline int inlined(int number) {
  int sum = 0;
  for (int i = 0; i < number; i++) {
    RAN; sum += table[i & 15];
    if (table[i & 15] > 4) {
      RAN; sum ^= i;
    }
  }
  return sum;
}

__attribute__((noinline)) static int work(int number) {
  int sum = 0;
  RAN; sum = table[number];
  if (sum > 100) {
    RAN; sum += table[1] * number;
  } else {
    RAN; sum -= table[2];
  }
  for (int i = 0; i < number; i++) {
    switch ((i * 5) & 7) {
      case 0: RAN; sum += table[i]; break;
      case 2: RAN; sum ^= small(i); break;
      case 5: RAN; sum += 3; /* fall through */
      case 7: RAN; table[i] = sum; break;
      default: RAN; return -1;
    }
    if (input == 2) {
      RAN; sum += inlined(i);
    }
  }
  RAN; sum += inlined(number);
  if (sum == 12345) {
    RAN; return small(number);
  }
  RAN; table[3] = sum / (input + 1);
  if (sum & 1) {
    RAN; return small(sum);
  }
  RAN; return small(sum + 1);
}

int main(void) {
  RAN;
  for (int i = 0; i < 16; i++) {
    RAN; table[i] = (i * 7) % 11;
  }
  RAN; int result = work(input);
  RAN; return result == 77;
}
