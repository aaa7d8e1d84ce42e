// Two stacks in one thread, one above the other, that take turns inside of calls.
#include <ucontext.h>

constexpr int kRounds = 50;
constexpr unsigned long kStack = 64 << 10;

volatile int sink;
char stacks[2][kStack];
ucontext_t starter, contexts[2];

[[gnu::noinline]] void leaf() { sink = 1; }
[[gnu::noinline]] void turn(int self) {
  swapcontext(&contexts[self], &contexts[1 - self]);
  sink = 2;
}
[[gnu::noinline]] void inner(int self) {
  leaf();
  turn(self);
  sink = 3;
}
[[gnu::noinline]] void outer(int self) {
  inner(self);
  leaf();
  sink = 4;
}
void user_thread(int self) {
  for (int i = 0; i < kRounds; ++i) outer(self);
  turn(self);  // the other one may have a round left
}

int main() {
  for (int i = 0; i < 2; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = kStack;
    contexts[i].uc_link = &starter;
    makecontext(&contexts[i], reinterpret_cast<void (*)()>(user_thread), 1, i);
  }
  swapcontext(&starter, &contexts[0]);
}
