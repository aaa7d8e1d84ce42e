#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    void *part = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (!part) { fprintf(stderr, "%s\n", dlerror()); return 2; }
    int (*answer)(int) = (int (*)(int))dlsym(part, argv[i + 1]);
    for (int n = 0; n < 10; n++) sum += answer(n);
    if (strchr(argv[1], 'c')) dlclose(part);
  }
  printf("%d\n", sum);
  if (strchr(argv[1], 'x')) abort();
  return 0;
}
