// longjmp out of calls, a constructor before main, deep recursion, calls in a signal handler.
#include <csetjmp>
#include <csignal>
#include <cstdlib>
namespace shop {
static std::jmp_buf back;
[[gnu::noinline]] void inner() { std::longjmp(back, 1); }
[[gnu::noinline]] void outer() { inner(); }
[[gnu::noinline]] int deep(int n) { return n == 0 ? 0 : deep(n - 1) + 1; }
[[gnu::noinline]] int early() { return 1; }
static const int before_main = early();
[[gnu::noinline]] void handled() { asm volatile(""); }
void handler(int) { handled(); }
}  // namespace shop
int main() {
  for (int i = 0; i < 3; ++i)
    if (setjmp(shop::back) == 0) shop::outer();
  std::signal(SIGUSR1, shop::handler);
  for (int i = 0; i < 4; ++i) std::raise(SIGUSR1);
  return shop::deep(10000) == 10000 ? shop::before_main - 1 : 1;
}
