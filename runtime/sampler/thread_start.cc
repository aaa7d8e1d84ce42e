// Threads get their signal stack when they begin. The shared runtime, and the one that is linked
// into an executable, stand before libc and see every thread, also those of libraries. In static
// executables and in libraries the linker's --wrap=pthread_create leads here.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "signals.h"
#ifdef TELLTALE_BEFORE_LIBC
#include <dlfcn.h>
#endif

namespace telltale::sampler {
namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* run_thread(void* memory) {
  const Start start = *static_cast<Start*>(memory);
  ::free(memory);
  install_signal_stack();
  return start.routine(start.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int create(Create real, pthread_t* thread, const pthread_attr_t* attributes,
           void* (*routine)(void*), void* argument) {
  auto* const start = watches_signals() ? static_cast<Start*>(::malloc(sizeof(Start))) : nullptr;
  if (start == nullptr) return real(thread, attributes, routine, argument);
  *start = {routine, argument};
  const int answer = real(thread, attributes, run_thread, start);
  if (answer != 0) ::free(start);
  return answer;
}

}  // namespace

#ifdef TELLTALE_BEFORE_LIBC
void link_thread_hooks() {}
#endif

}  // namespace telltale::sampler

// Weak: a sanitizer that is linked into the executable has its own, which must see threads first.
#ifdef TELLTALE_BEFORE_LIBC
extern "C" __attribute__((weak, visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  static telltale::sampler::Create real = nullptr;
  telltale::sampler::Create known = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = reinterpret_cast<telltale::sampler::Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    // Who stands before dlsym, too, may be the one that comes before us.
    void* const libc = known == pthread_create ? ::dlopen("libc.so.6", RTLD_LAZY) : nullptr;
    if (libc != nullptr)
      known = reinterpret_cast<telltale::sampler::Create>(::dlsym(libc, "pthread_create"));
    if (known == nullptr || known == pthread_create) return EAGAIN;
    __atomic_store_n(&real, known, __ATOMIC_RELAXED);
  }
  return telltale::sampler::create(known, thread, attributes, routine, argument);
}
#else
extern "C" int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
extern "C" int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*routine)(void*), void* argument);
extern "C" __attribute__((visibility("default"))) int __wrap_pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  return telltale::sampler::create(__real_pthread_create, thread, attributes, routine, argument);
}
#endif
