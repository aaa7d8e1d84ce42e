// Recursion that is deeper than the recorder's filters can follow.
#include <pthread.h>

#include <cstddef>

constexpr int kCalls = 70000;
constexpr int kRounds = 3;
constexpr std::size_t kStack = 64 << 20;

volatile int sink;

[[gnu::noinline]] int down(int n) {
  const int below = n == 0 ? 0 : down(n - 1);
  sink = n;
  return below + n;
}
[[gnu::noinline]] void shallow() { sink = down(1); }
[[gnu::noinline]] void* body(void*) {
  for (int i = 0; i < kRounds; ++i) {
    sink = down(kCalls - 1);
    shallow();
  }
  return nullptr;
}

int main() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  pthread_create(&thread, &attributes, body, nullptr);
  pthread_join(thread, nullptr);
}
