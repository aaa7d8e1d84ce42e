// Gives each new thread a signal stack and the signals of faults, also threads of libraries:
// interposes pthread_create. Only in programs with a dynamic linker.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "signal_stack.h"

// The sampler's runtime, whose pthread_create this one hides; null if it is not linked.
extern "C" __attribute__((weak, visibility("hidden"))) void telltale_sampler_begin_thread_v1();

namespace telltale::paths {
namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* run_thread(void* memory) {
  const Start start = *static_cast<Start*>(memory);
  ::free(memory);
  if (telltale_sampler_begin_thread_v1 != nullptr) telltale_sampler_begin_thread_v1();
  if (gives_signal_stacks()) {
    give_signal_stack();
    unblock_faults();
  }
  return start.routine(start.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create real_create() {
  auto found = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  // If another library interposes dlsym, the result may be this function.
  void* const libc = found == pthread_create ? ::dlopen("libc.so.6", RTLD_LAZY) : nullptr;
  if (libc != nullptr) found = reinterpret_cast<Create>(::dlsym(libc, "pthread_create"));
  return found == pthread_create ? nullptr : found;
}

}  // namespace
}  // namespace telltale::paths

// The driver links this file by the name.
extern "C" {
// NOLINTBEGIN: a symbol
extern const char telltale_paths_threads_v1;
const char telltale_paths_threads_v1 = 0;
// NOLINTEND
}

// Weak: a sanitizer in the executable interposes it as well, and must come first.
extern "C" __attribute__((weak, visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  using namespace telltale::paths;
  static Create real = nullptr;
  Create known = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = real_create();
    if (known == nullptr) return EAGAIN;
    __atomic_store_n(&real, known, __ATOMIC_RELAXED);
  }
  const bool is_wanted = gives_signal_stacks() || telltale_sampler_begin_thread_v1 != nullptr;
  auto* const start = is_wanted ? static_cast<Start*>(::malloc(sizeof(Start))) : nullptr;
  if (start == nullptr) return known(thread, attributes, routine, argument);
  *start = {routine, argument};
  const int answer = known(thread, attributes, run_thread, start);
  if (answer != 0) ::free(start);
  return answer;
}
