#include <atomic>
#include <thread>
#include <vector>
static std::atomic<int> begun{0};
__attribute__((noinline)) int leaf(int value) { return value + 1; }
// Each thread has recorded, and still runs, when the others go on.
__attribute__((no_instrument_function)) static void wait_for_all() {
  ++begun;
  while (begun < 4) std::this_thread::yield();
}
static void work() {
  leaf(1);
  wait_for_all();
  int sum = 0;
  for (int i = 0; i < 20'000; ++i) sum += leaf(sum);
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}
