// Loads a library that is this file, too, three times, and calls its function in a thread.
#include <dlfcn.h>

#include <thread>

#ifdef LIBRARY
extern "C" int in_library(int x) { return x + 1; }
#else
__attribute__((noinline)) int before(int x) { return x + 1; }

int main(int, char** argv) {
  volatile int sum = 0;
  for (int i = 0; i < 10; ++i) sum = sum + before(i);
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return 1;
    auto* call = reinterpret_cast<int (*)(int)>(dlsym(library, "in_library"));
    std::thread thread([&] { sum = sum + call(i); });
    thread.join();
    dlclose(library);
  }
}
#endif
