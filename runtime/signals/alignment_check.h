// WithoutAlignmentCheck, in a signal handler: its code may use unaligned addresses. For a handler,
// x86 kernels keep the AC flag of the code that they interrupt. Programs set it to find their own
// unaligned accesses; handlers, and the functions of libc that they call, have others.
#pragma once

namespace telltale::signals {

#if defined(__x86_64__)
class WithoutAlignmentCheck {
 public:
  WithoutAlignmentCheck() : before_(__builtin_ia32_readeflags_u64()) {
    if ((before_ & kAlignmentCheck) != 0) set(before_ & ~kAlignmentCheck);
  }
  WithoutAlignmentCheck(const WithoutAlignmentCheck&) = delete;
  WithoutAlignmentCheck& operator=(const WithoutAlignmentCheck&) = delete;
  ~WithoutAlignmentCheck() {
    if ((before_ & kAlignmentCheck) != 0) set(before_);
  }

 private:
  static constexpr unsigned long long kAlignmentCheck = 1ULL << 18U;

  static void set(unsigned long long flags) {
    asm volatile("" ::: "memory");
    __builtin_ia32_writeeflags_u64(flags);
    asm volatile("" ::: "memory");
  }

  unsigned long long before_;
};
#else
class WithoutAlignmentCheck {
 public:
  // Not defaulted, so that compilers do not warn of variables of this class that nobody uses.
  WithoutAlignmentCheck() {}  // NOLINT(modernize-use-equals-default)
};
#endif

}  // namespace telltale::signals
