/* A library (-DLIBRARY) that the program loads again after it was unloaded, or loads twice ("copies"), and then aborts. */
#ifdef LIBRARY
#include <stdio.h>

int run_once(int count) {
  if (count > 3)
    puts("large");
  return count;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static int run(void* library) {
  int (*function)(int) = (int (*)(int))dlsym(library, "run_once");
  return function(8);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    void* const library = dlopen(argv[1], RTLD_NOW);
    run(library);
    dlclose(library);
    if (dlopen(argv[1], RTLD_NOW) == NULL) return 1;
  } else {
    if (dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) == NULL) return 1;
    run(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW));
  }
  abort();
}
#endif
