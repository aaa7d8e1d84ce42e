// Preloaded into test programs (row R1): interposes libc's allocator, locks, dynamic linker and
// stdio, and ends the process when one of them is called while the thread is in a marked part
// (forbidden.h). Otherwise calls libc's function. TELLTALE_MAY_CALL names one function that is
// allowed.

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

__thread int depth __attribute__((tls_model("initial-exec"))) = 0;

void check(const char* name) {
  if (__builtin_expect(depth == 0, 1)) return;
  const char* const allowed = std::getenv("TELLTALE_MAY_CALL");
  if (allowed != nullptr && std::strcmp(allowed, name) == 0) return;
  depth = 0;
  const char before[] = "forbidden call: ";
  syscall(SYS_write, 2, before, sizeof(before) - 1);
  syscall(SYS_write, 2, name, std::strlen(name));
  syscall(SYS_write, 2, "\n", 1);
  syscall(SYS_exit_group, 97);
}

// libc's own `name`. Two threads may look it up at once: both find the same.
template <typename Function>
Function* next(const char* name, Function*& known) {
  if (known == nullptr) {
    void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
    if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
    std::memcpy(&known, &found, sizeof(found));
  }
  return known;
}

}  // namespace

EXPORT int* telltale_forbidden_depth() { return &depth; }

// The allocator has other names in libc, and is called before anything can be looked up.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}
EXPORT void* malloc(size_t bytes) {
  check("malloc");
  return __libc_malloc(bytes);
}
EXPORT void* calloc(size_t count, size_t bytes) {
  check("calloc");
  return __libc_calloc(count, bytes);
}
EXPORT void* realloc(void* old, size_t bytes) {
  check("realloc");
  return __libc_realloc(old, bytes);
}
EXPORT void free(void* old) {
  check("free");
  __libc_free(old);
}
EXPORT void* memalign(size_t alignment, size_t bytes) {
  check("memalign");
  return __libc_memalign(alignment, bytes);
}
EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  check("aligned_alloc");
  return __libc_memalign(alignment, bytes);
}
EXPORT int posix_memalign(void** result, size_t alignment, size_t bytes) {
  check("posix_memalign");
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? 12 : 0;
}

#define FORBIDDEN(result, name, parameters, arguments) \
  EXPORT result name parameters {                      \
    check(#name);                                      \
    static decltype(&::name) known = nullptr;          \
    return next(#name, known) arguments;               \
  }

FORBIDDEN(int, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
FORBIDDEN(int, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
FORBIDDEN(int, pthread_mutex_unlock, (pthread_mutex_t * lock), (lock))
FORBIDDEN(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
FORBIDDEN(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
FORBIDDEN(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
FORBIDDEN(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
FORBIDDEN(int, pthread_once, (pthread_once_t * once, void (*body)()), (once, body))
FORBIDDEN(int, sem_wait, (sem_t * semaphore), (semaphore))
FORBIDDEN(int, sem_post, (sem_t * semaphore), (semaphore))
FORBIDDEN(void*, dlopen, (const char* path, int mode), (path, mode))
FORBIDDEN(int, dlclose, (void* handle), (handle))
FORBIDDEN(int, dladdr, (const void* address, Dl_info* info), (address, info))
FORBIDDEN(int, dl_iterate_phdr, (int (*callback)(dl_phdr_info*, size_t, void*), void* data),
          (callback, data))
FORBIDDEN(FILE*, fopen, (const char* path, const char* mode), (path, mode))
FORBIDDEN(int, fclose, (FILE * file), (file))
FORBIDDEN(int, fflush, (FILE * file), (file))
FORBIDDEN(int, puts, (const char* text), (text))
FORBIDDEN(int, fputs, (const char* text, FILE* file), (text, file))
FORBIDDEN(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* file),
          (from, size, count, file))
FORBIDDEN(size_t, fread, (void* to, size_t size, size_t count, FILE* file), (to, size, count, file))
FORBIDDEN(int, vprintf, (const char* format, va_list arguments), (format, arguments))
FORBIDDEN(int, vfprintf, (FILE * file, const char* format, va_list arguments),
          (file, format, arguments))
FORBIDDEN(int, vsnprintf, (char* to, size_t bytes, const char* format, va_list arguments),
          (to, bytes, format, arguments))

EXPORT int printf(const char* format, ...) {
  check("printf");
  va_list arguments;
  va_start(arguments, format);
  const int result = vprintf(format, arguments);
  va_end(arguments);
  return result;
}
EXPORT int fprintf(FILE* file, const char* format, ...) {
  check("fprintf");
  va_list arguments;
  va_start(arguments, format);
  const int result = vfprintf(file, format, arguments);
  va_end(arguments);
  return result;
}
EXPORT int snprintf(char* to, size_t bytes, const char* format, ...) {
  check("snprintf");
  va_list arguments;
  va_start(arguments, format);
  const int result = vsnprintf(to, bytes, format, arguments);
  va_end(arguments);
  return result;
}
// This library's own lookups use it, so it cannot call next().
EXPORT void* dlsym(void* handle, const char* name) {
  check("dlsym");
  static decltype(&::dlsym) known = nullptr;
  if (known == nullptr) {
    void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    std::memcpy(&known, &found, sizeof(found));
  }
  return known(handle, name);
}
