// Loads a library that is this file, too, 100 times. Its function calls another one that returns at
// once.
#include <dlfcn.h>

#ifdef LIBRARY
__attribute__((noinline)) static int brief(int x) {
  asm volatile("");
  return x;
}
extern "C" int many(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += brief(i);
  return sum;
}
#else
int main(int, char** argv) {
  volatile int sum = 0;
  for (int i = 0; i < 100; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) return 1;
    auto* call = reinterpret_cast<int (*)(int)>(dlsym(library, "many"));
    sum = sum + call(40);
    dlclose(library);
  }
}
#endif
