// Inlined functions, whose calls share the frame of their caller, and calls that longjmp ends.
#include <csetjmp>

volatile int sink;
std::jmp_buf back;

[[gnu::always_inline]] static inline void innermost(int n) { sink = n; }
[[gnu::always_inline]] static inline void inner(int n) {
  sink = n;
  innermost(n);
  sink = n;
}
[[gnu::noinline]] void outer(int n) {
  sink = n;
  inner(n);
  sink = n;
}
[[gnu::noinline]] void leaps(int n) {
  sink = n;
  std::longjmp(back, 1);
}
[[gnu::noinline]] void round_of(int n) {
  outer(n);
  if (setjmp(back) == 0) leaps(n);
}

int main() {
  for (volatile int i = 0; i < 10; i = i + 1) round_of(i);
}
