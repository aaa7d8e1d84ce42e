/* Functions whose code is copied for sampling, though they look as if it could not be. */
#include <stdio.h>

/* Headers of the C library ask in tolower() and in read() whether something is constant. */
#define LOWER(c)                                                     \
  __extension__({                                                    \
    int result = (c);                                                \
    if (!__builtin_constant_p(c) && result >= 'A' && result <= 'Z') \
      result += 32;                                                  \
    result;                                                          \
  })

__attribute__((noinline)) int count_lower(const char *text) {
  int count = 0;
  for (; *text != 0; ++text) {
    const int c = LOWER(*text);
    if (c == 'a') ++count;
  }
  return count;
}

/* The table could be changed, but nothing changes it. */
__attribute__((noinline)) int interpret(const unsigned char *code, int times) {
  static void *labels[] = {&&add, &&halve, &&again, &&end};
  int sum = 1;
  const unsigned char *at = code;
  goto *labels[*at++];
add:
  sum = sum + 3;
  goto *labels[*at++];
halve:
  if (sum > 10) sum = sum / 2;
  goto *labels[*at++];
again:
  if (--times > 0) at = code;
  goto *labels[*at++];
end:
  return sum;
}

/* This one is changed: the second run goes to another label. */
__attribute__((noinline)) int patch(int choice) {
  static void *labels[] = {&&first, &&second};
  int sum = choice;
  goto *labels[choice];
first:
  sum = sum + 10;
  labels[0] = &&second;
  return sum;
second:
  sum = sum + 20;
  return sum;
}

#ifdef __x86_64__
/* A number may be defined again, and a modifier is no label. */
__attribute__((noinline)) int halvings(unsigned number) {
  int count = 0;
  for (unsigned left = number; left != 0; ++count)
    __asm__("testl %k0, %k0\n\tje 1f\n\tshrl %k0\n1:" : "+r"(left) : : "cc");
  return count;
}

__attribute__((noinline)) long thread_itself(int add) {
  long own;
  __asm__("movq %%fs:0, %0" : "=r"(own));
  if (add > 1) own = own + add;
  return own - add - (long)__builtin_thread_pointer();
}
#else
int halvings(unsigned number) { return number == 0 ? 0 : 1 + halvings(number / 2); }
long thread_itself(int add) { return add > 1 ? 0 : 1 - add; }
#endif

int main(void) {
  static const unsigned char code[] = {0, 1, 0, 0, 1, 2, 3};
  printf("%d %d", count_lower("A banana"), interpret(code, 40));
  printf(" %d %d", patch(0), patch(0));
  printf(" %d %ld\n", halvings(1000), thread_itself(2));
  return 0;
}
