// Handlers on a stack of their own, below and above the thread's. They return, or leave by siglongjmp.
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <csetjmp>
#include <csignal>
#include <cstddef>

constexpr std::size_t kSignalStack = 64 << 10;
constexpr std::size_t kThreadStack = 1 << 20;
constexpr int kRounds = 10;

volatile int sink;
sigjmp_buf back;
bool leaves;

[[gnu::always_inline, gnu::no_instrument_function]] inline void wait_us(long us) {
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (timespec now = begin; (now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us;)
    clock_gettime(CLOCK_MONOTONIC, &now);
}

[[gnu::noinline]] void leaf() { sink = 1; }
[[gnu::noinline]] void handler(int) {
  leaf();
  if (leaves) siglongjmp(back, 1);
  leaf();
  sink = 2;
}
[[gnu::noinline]] void inner() {
  leaf();
  raise(SIGUSR1);
  leaf();
  wait_us(20);
  sink = 3;
}
[[gnu::noinline]] void middle() {
  if (sigsetjmp(back, 1) == 0) inner();
  leaf();
  wait_us(20);
  sink = 4;
}
[[gnu::noinline]] void outer() {
  middle();
  wait_us(20);
  sink = 5;
}
[[gnu::noinline]] void* body(void* stack) {
  stack_t signal_stack{};
  signal_stack.ss_sp = stack;
  signal_stack.ss_size = kSignalStack;
  sigaltstack(&signal_stack, nullptr);
  for (int i = 0; i < kRounds; ++i) outer();
  return nullptr;
}

// Arguments: `above` or `below`, where the handler's stack is; `leaves` if handlers do not return.
int main(int count, char** words) {
  auto* const memory = static_cast<char*>(mmap(nullptr, kThreadStack + 2 * kSignalStack, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  leaves = count > 2;
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory + kSignalStack, kThreadStack);
  pthread_t thread;
  pthread_create(&thread, &attributes, body, memory + (words[1][0] == 'a' ? kSignalStack + kThreadStack : 0));
  pthread_join(thread, nullptr);
}
