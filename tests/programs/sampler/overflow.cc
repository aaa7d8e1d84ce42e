// Threads of every origin overflow their stacks.
#include <pthread.h>

#include <cstring>
#include <thread>

namespace {

int dive(int n) {
  volatile char room[4096];
  room[0] = static_cast<char>(n);
  return n < 0 ? 0 : dive(n + 1) + room[0];
}

void* start(void*) {
  dive(0);
  return nullptr;
}

}  // namespace

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "std") == 0) {
    std::thread(start, nullptr).join();
    return 0;
  }
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (std::strcmp(arguments[1], "small") == 0) pthread_attr_setstacksize(&attributes, 64 * 1024);
  if (pthread_create(&thread, &attributes, start, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  return 0;
}
