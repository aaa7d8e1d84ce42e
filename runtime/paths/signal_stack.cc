#include "signal_stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace telltale::paths {
namespace {

constexpr size_t kGuardBytes = 4096;

bool prepared = false;
pthread_key_t key;
bool has_key = false;
size_t stack_bytes = size_t{256} * 1024;  // used as far as the handler needs it

void free_stack(void* memory) {
  stack_t now = {};
  ::sigaltstack(nullptr, &now);
  if (now.ss_sp == memory) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(static_cast<char*>(memory) - kGuardBytes, kGuardBytes + stack_bytes);
}

}  // namespace

void prepare_signal_stacks() {
  constexpr size_t kPage = 4096;
#ifdef AT_MINSIGSTKSZ
  // What the kernel stores there, which depends on the processor, beside what the handler needs.
  stack_bytes += (::getauxval(AT_MINSIGSTKSZ) + kPage - 1) / kPage * kPage;
#endif
  has_key = ::pthread_key_create(&key, free_stack) == 0;
  prepared = true;
}

void unblock_faults() {
  sigset_t faults;
  ::sigemptyset(&faults);
  constexpr int kFaults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV};
  for (const int signal : kFaults) ::sigaddset(&faults, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &faults, nullptr);
}

bool gives_signal_stacks() { return prepared; }

void give_signal_stack() {
  const int kept = errno;
  stack_t now = {};
  if (::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
    void* const memory = ::mmap(nullptr, kGuardBytes + stack_bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory != MAP_FAILED) {
      stack_t ours = {};
      ours.ss_sp = static_cast<char*>(memory) + kGuardBytes;
      ours.ss_size = stack_bytes;
      if (::mprotect(ours.ss_sp, stack_bytes, PROT_READ | PROT_WRITE) == 0 &&
          ::sigaltstack(&ours, nullptr) == 0 && has_key)
        ::pthread_setspecific(key, ours.ss_sp);
    }
  }
  errno = kept;
}

}  // namespace telltale::paths
