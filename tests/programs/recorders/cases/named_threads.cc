// Threads with names, some of which change; the argument is how many events each makes.
#include <pthread.h>

#include <cstdlib>
#include <telltale/stacktrack.hpp>
#include <thread>

static void work(int events) {
  TELLTALE_FUNCTION();
  for (int i = 0; i < events; ++i) {
    TELLTALE_BLOCK("piece");
  }
}

int main(int argc, char** argv) {
  const int events = argc > 1 ? std::atoi(argv[1]) : 10;
  std::thread first([events] {
    pthread_setname_np(pthread_self(), "first=1");
    work(events);
  });
  first.join();
  std::thread second([events] {
    pthread_setname_np(pthread_self(), "second");
    work(events);
    pthread_setname_np(pthread_self(), "renamed");
    work(events);
  });
  second.join();
  work(events);
}
