// Loads and unloads the plugins of its arguments in turn.
#include <dlfcn.h>

#include <cstdlib>
int main(int, char** argv) {
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    void* plugin = dlopen(argv[2 + i % 2], RTLD_NOW);
    if (plugin == nullptr) return 2;
    reinterpret_cast<int (*)(int)>(dlsym(plugin, "run"))(i);
    dlclose(plugin);
  }
}
