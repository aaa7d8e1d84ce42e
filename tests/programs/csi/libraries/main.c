// Calls a library that is linked and one that is loaded (argument), and ends by a fault.
#include <dlfcn.h>
#include <stdlib.h>

int used_linked(int count);

__attribute__((noinline)) static int unused_in_program(int count) { return count * 3; }

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 1;
  int (*used)(int) = (int (*)(int))dlsym(library, "used_loaded");
  volatile int sum = used_linked(argc + 5) + used(argc + 5);
  if (argc > 5) sum = unused_in_program(argc);
  (void)sum;
  abort();
}
