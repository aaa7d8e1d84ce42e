#include <pthread.h>
#include <string.h>
#define OUT [[gnu::noinline]]
OUT void flush() { asm volatile(""); }
OUT void save() { flush(); }
OUT void check() { asm volatile(""); }
OUT void audit() { check(); check(); }
OUT void request(bool audited) {
  check();
  if (audited) audit();
  flush();
}
OUT void load() { asm volatile(""); }
static void* other(void*) {
  load();
  return nullptr;
}
int main(int argc, char** argv) {
  const bool is_new = argc > 1;
  if (!is_new) save();
  load();
  for (int i = 0; i < 100; ++i) request(is_new && i == 40);
  if (is_new) save();
  if (!is_new) check();
  pthread_t thread;
  pthread_create(&thread, nullptr, other, nullptr);
  pthread_join(thread, nullptr);
  return 0;
}
