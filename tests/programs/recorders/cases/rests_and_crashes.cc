#include <unistd.h>
[[gnu::noinline]] void rests() {
  usleep(3000);
  asm volatile("");
}
int main() {
  for (int i = 0; i < 3; ++i) rests();
  __builtin_trap();
}
