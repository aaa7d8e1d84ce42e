// Functions that only assembly calls, and a naked one, of which the compiler does not see that it returns.
#include <signal.h>

void untyped(void);
int sink;
void from_assembly(void) {
  for (int i = 0; i < 5; i++) sink += i;
}
void from_naked(void) {
  for (int i = 0; i < 5; i++) sink += i;
}
static void local_from_naked(void) {
  for (int i = 0; i < 5; i++) sink += i;
}
static __attribute__((noinline)) void never(void) {
  for (int i = 0; i < 5; i++) sink -= i;
}
__attribute__((naked)) void naked(void) {
  asm("push %%rbx\n\tcall from_naked\n\tcall *%%rdi\n\tpop %%rbx\n\tret" ::"D"(local_from_naked));
}
__attribute__((noinline)) void below(void) {
  naked();
  sink += 1;
  if (sink != 0) raise(SIGILL);
}
int main(void) {
  untyped();
  if (sink < 0) never();
  below();
  return 0;
}
