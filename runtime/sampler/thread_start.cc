// Gives each new thread a signal stack. The shared runtime, and the one linked into dynamic
// executables, interpose pthread_create and so see every thread, also those of libraries. In static
// executables and in libraries, the linker's --wrap=pthread_create leads here.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "signals.h"
#include "thread_slots.h"
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
  claim_thread_slot();
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

// For a runtime whose pthread_create comes first (runtime/paths).
extern "C" void telltale_sampler_begin_thread_v1();
extern "C" void telltale_sampler_begin_thread_v1() {
  telltale::sampler::install_signal_stack();
  telltale::sampler::claim_thread_slot();
}

// Weak: a sanitizer in the executable interposes pthread_create as well, and must come first.
#ifdef TELLTALE_BEFORE_LIBC
extern "C" __attribute__((weak, visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  static telltale::sampler::Create real = nullptr;
  telltale::sampler::Create known = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = reinterpret_cast<telltale::sampler::Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    // If another library interposes dlsym, the result may be this function.
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
