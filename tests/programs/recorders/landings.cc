// Calls after longjmp, in a frame to which it returns again and again.
#include <csetjmp>

volatile int sink;
std::jmp_buf back;

[[gnu::noinline]] void leaps(int n) {
  sink = n;
  std::longjmp(back, 1);
}
[[gnu::noinline]] void passes(int n) {
  leaps(n);
  sink = n;
}
[[gnu::noinline]] void below(int n) { sink = n; }
// Saves more registers than passes(), so that the stack is lower in it.
[[gnu::noinline]] int wide(int n) {
  const int a = sink;
  const int b = sink;
  const int c = sink;
  below(n);
  return a + b + c + n;
}
[[gnu::noinline]] void lands(int n) {
  volatile int i = 0;
  setjmp(back);
  while (i < n) {
    i = i + 1;
    sink = wide(i);
    passes(i);
  }
}

int main() { lands(10); }
