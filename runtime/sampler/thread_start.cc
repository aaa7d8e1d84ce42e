// Threads get their signal stack when they begin. The shared runtime stands before libc and sees
// every thread, also those of libraries; the static one is called where the link says
// --wrap=pthread_create.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "signals.h"
#ifdef TELLTALE_SHARED_RUNTIME
#include <dlfcn.h>
#endif

namespace telltale::sampler {
namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* begin_thread(void* memory) {
  const Start start = *static_cast<Start*>(memory);
  ::free(memory);
  give_signal_stack();
  return start.routine(start.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

int create(Create real, pthread_t* thread, const pthread_attr_t* attributes,
           void* (*routine)(void*), void* argument) {
  auto* const start = watches_signals() ? static_cast<Start*>(::malloc(sizeof(Start))) : nullptr;
  if (start == nullptr) return real(thread, attributes, routine, argument);
  *start = {routine, argument};
  const int answer = real(thread, attributes, begin_thread, start);
  if (answer != 0) ::free(start);
  return answer;
}

}  // namespace
}  // namespace telltale::sampler

#ifdef TELLTALE_SHARED_RUNTIME
extern "C" __attribute__((visibility("default"))) int pthread_create(
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
