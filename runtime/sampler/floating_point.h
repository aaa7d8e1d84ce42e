// Saves and restores the floating-point environment: the runtime's arithmetic must neither set the
// program's flags nor run into its traps.
#pragma once

#include <fenv.h>
#include <stdint.h>

namespace telltale::sampler {

class FloatingPoint {
 public:
  FloatingPoint(const FloatingPoint&) = delete;
  FloatingPoint& operator=(const FloatingPoint&) = delete;
#ifdef __SSE2__
  // Doubles use SSE only, so the x87 state, which is expensive to save, is left alone.
  FloatingPoint() : kept_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(kPlain); }
  ~FloatingPoint() { __builtin_ia32_ldmxcsr(kept_); }

 private:
  static constexpr unsigned kPlain = 0x1f80;  // no traps, to nearest, denormals as they are
  unsigned kept_;
#elif defined(__aarch64__)
  // The functions of <fenv.h> are in libm, with which C programs may not be linked.
  FloatingPoint() {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(status_));
    set(0, 0);  // no traps, to nearest
  }
  ~FloatingPoint() { set(control_, status_); }

 private:
  static void set(uint64_t control, uint64_t status) {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control), "r"(status) : "memory");
  }
  uint64_t control_;
  uint64_t status_;
#else
  FloatingPoint() {
    ::fegetenv(&kept_);
    ::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPoint() { ::fesetenv(&kept_); }

 private:
  fenv_t kept_;
#endif
};

}  // namespace telltale::sampler
