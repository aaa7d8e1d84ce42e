// Arithmetic of ours leaves no trace in the program's floating point environment: no flag that it
// raised, and no trap of the program's that it could run into.
#pragma once

#include <fenv.h>
#include <stdint.h>

namespace telltale::sampler {

class FloatingPoint {
 public:
  FloatingPoint(const FloatingPoint&) = delete;
  FloatingPoint& operator=(const FloatingPoint&) = delete;
#ifdef __SSE2__
  // Doubles are calculated by SSE alone; the x87 unit's state, which is dear, stays out of it.
  FloatingPoint() : kept_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(kPlain); }
  ~FloatingPoint() { __builtin_ia32_ldmxcsr(kept_); }

 private:
  static constexpr unsigned kPlain = 0x1f80;  // no traps, to nearest, denormals as they are
  unsigned kept_;
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
