// An instrumented malloc: events from inside the allocator, and from whatever calls it, the
// recorder's start too.
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {
alignas(16) char heap[64 << 20];
size_t used = 0;
unsigned long calls = 0;
}  // namespace

#define INSTRUMENTED [[clang::xray_always_instrument]] __attribute__((noinline))

INSTRUMENTED static void* take(size_t bytes) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  const size_t at = __atomic_fetch_add(&used, (bytes + 31) / 16 * 16, __ATOMIC_RELAXED);
  std::memcpy(heap + at, &bytes, sizeof(bytes));
  return at + bytes + 32 > sizeof(heap) ? nullptr : heap + at + 16;
}
extern "C" {
INSTRUMENTED void* malloc(size_t bytes) { return take(bytes); }
INSTRUMENTED void free(void*) { __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); }
INSTRUMENTED void* calloc(size_t count, size_t bytes) {
  void* const memory = take(count * bytes);
  return memory == nullptr ? nullptr : std::memset(memory, 0, count * bytes);
}
INSTRUMENTED void* realloc(void* old, size_t bytes) {
  void* const memory = take(bytes);
  if (old != nullptr && memory != nullptr) {
    size_t old_bytes;
    std::memcpy(&old_bytes, static_cast<char*>(old) - 16, sizeof(old_bytes));
    std::memcpy(memory, old, old_bytes < bytes ? old_bytes : bytes);
  }
  return memory;
}
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      std::vector<std::string> texts;
      for (int j = 0; j < 2000; ++j) texts.emplace_back(100, 'x');
    });
  }
  for (std::thread& thread : threads) thread.join();
  char line[100];
  const int length = std::snprintf(line, sizeof(line), "{\"calls\": {\"at_least\": %lu}}\n", calls);
  return std::fwrite(line, 1, static_cast<size_t>(length), stdout) == 0;
}
