/* Loads and unloads a module as often as the first argument says. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern int shared_answer(int n);

int main(int argc, char **argv) {
  int (*call)(int);
  void *module;
  if (shared_answer(argc) < 0) return 3;
  for (int i = atoi(argv[1]); i > 0; i--) {
    module = dlopen(argv[2], RTLD_NOW);
    if (module == NULL) {
      puts(dlerror());
      return 1;
    }
    call = (int (*)(int))dlsym(module, "module_answer");
    for (int j = 0; j < i; j++) call(j);
    dlclose(module);
  }
  return 0;
}
