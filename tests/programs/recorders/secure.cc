// Prints whether it runs with raised privileges, and which variables a child would get.
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#ifdef STACKTRACK
#include <telltale/stacktrack.hpp>
#else
#define TELLTALE_FUNCTION()
#endif
__attribute__((noinline)) int work(int n) {
  TELLTALE_FUNCTION();
  asm volatile("" : "+r"(n));
  return n + 1;
}
int main() {
  int sum = 0;
  for (int i = 0; i < 10; ++i) sum += work(i);
  std::printf("sum %d, secure %lu, handed on:%s%s\n", sum, getauxval(AT_SECURE),
              std::getenv("TELLTALE_XRAY") ? " xray" : "",
              std::getenv("TELLTALE_STACKTRACK") ? " stacktrack" : "");
  return 0;
}
