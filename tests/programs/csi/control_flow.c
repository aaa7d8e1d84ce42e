// clang-format off: long lines. Every kind of control flow, in functions that are called a few times. Without library calls, so that each instruction
// can be looked at.
#define NOINLINE __attribute__((noinline))
void _exit(int);
volatile int sink;
volatile int zero;

NOINLINE int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0) continue;
    int j = i;
    do {
      sum += j;
      if (sum % 7 == 0) sink = sum;
    } while (--j > 0);
    while (sum % 5 != 0) ++sum;
  }
  return sum;
}

NOINLINE int cases(int n) {
  switch (n) {
    case 0: case 1: case 2:
      sink = 1;
      break;
    case 5:
      sink = 2;
      // fall through
    case 7: case 9:
      sink = 3;
      return n;
    default:
      if (n & 1) return 4;
  }
  return 5;
}

NOINLINE int irreducible(int n) {
  int i = 0;
  if (n & 1) goto middle;
again:
  sink = i;
  ++i;
middle:
  ++i;
  if (i & 2) sink = -i;
  if (i < n) goto again;
  return i;
}

NOINLINE int recursive(int n) {
  if (n <= 1) return n + zero;
  int sum = 0;
  for (int i = 1; i <= 2 + zero; ++i) sum += recursive(n - i) + sink % 2;
  return sum;
}

NOINLINE int computed(const unsigned char* code) {
  static void* const kLabels[] = {&&add, &&twice, &&less, &&back, &&end};
  int value = 1, turns = 0;
  const unsigned char* at = code;
  goto *kLabels[*at++];
add:
  value += 3;
  goto *kLabels[*at++];
twice:
  value *= 2;
  if (value > 50) goto less;
  goto *kLabels[*at++];
less:
  value -= 7;
  goto *kLabels[*at++];
back:
  if (++turns < 3) at = code;
  goto *kLabels[*at++];
end:
  return value;
}

NOINLINE int variable_array(int n) {
  int array[n];
  for (int i = 0; i < n; ++i) array[i] = i & 1 ? i : -i;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (array[i] > 0) sum += array[i];
  }
  return sum;
}

NOINLINE int self_loop(int n) {
  do {
    sink = n;
  } while (n-- > 0);
  return n;
}

NOINLINE int jumping(int n) {
  int seen = 0;
  for (int i = 0; i < 3; ++i) {
#if defined(__aarch64__)
    __asm__ goto("cmp %w0, #2; b.lt %l[small]" : : "r"(n) : "cc" : small);
#else
    __asm__ goto("cmpl $2, %0; jl %l[small]" : : "r"(n) : "cc" : small);
#endif
    ++seen;
    continue;
  small:
    seen += 10;
  }
  return seen;
}

// Its prologue has a branch: it saves registers of floating-point arguments only if there are some.
NOINLINE int variadic(const char* kinds, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, kinds);
  int sum = 0;
  for (; *kinds; ++kinds) {
    if (*kinds == 'd') {
      sum += (int)__builtin_va_arg(list, double);
    } else if (*kinds == 'i') {
      sum += __builtin_va_arg(list, int);
    } else {
      sink = sum;
    }
  }
  __builtin_va_end(list);
  return sum;
}

NOINLINE int tail_a(int n);
NOINLINE int tail_b(int n) {
  if (n <= 0) return zero;
  __attribute__((musttail)) return tail_a(n - 1);
}
NOINLINE int tail_a(int n) {
  if (n == 1) sink = 9;
  __attribute__((musttail)) return tail_b(n - 1);
}

// Calls before a return that they share.
NOINLINE int either(int n) {
  int result;
  if (n & 1) {
    result = cases(n);
  } else {
    sink = n;
    result = irreducible(n);
  }
  return result;
}

// Short loops in a loop: their counts are in a register, too, which each way into them sets.
NOINLINE int scans(const char* text, int from) {
  int words = 0;
  if (from > 0) {
    text += from;
    if (from & 1) goto inside;
  }
next:
  while ((*text & 0x5f) != 0) {
    if (words > 4) goto inside;
    ++text;
  }
  if (*text == 0) return words;
inside:
  while (*text < 'A') {
    if (*text == 0) return -words;
    ++text;
  }
  if (++words < 6) goto next;
  for (; *text; ++text) words += *text == 'e';
  return words;
}

NOINLINE void leave(int status) {
  if (status) sink = status;
  _exit(status);
}

int main(int argc, char** argv) {
  (void)argv;
  int sum = loops(9) + loops(1);
  for (int i = 0; i < 11; ++i) sum += cases(i);
  sum += variadic("iddi-iiiiiid", 1, 2.0, 3.0, 4, 5, 6, 7, 8, 9, 10, 11.0) + variadic("i", 12);
  sum += irreducible(6) + irreducible(7) + recursive(6) + variable_array(9) + self_loop(14) + jumping(1) + jumping(argc + 3);
  static const unsigned char kCode[] = {0, 1, 1, 2, 0, 3, 1, 1, 4};
  sum += computed(kCode) + tail_a(5) + either(6) + either(7);
  static const char kText[] = "  when  the sun rises, all! the   fields are green, and the sheep sleep";
  sum += scans(kText, 0) + scans(kText, 3) + scans(kText + 20, 16) + scans(kText + 40, 0);
  leave(sum & 127);
}
