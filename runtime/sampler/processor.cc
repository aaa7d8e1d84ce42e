// What the processor can do, for the code of instrumented units.
#include "abi.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace telltale::sampler {
namespace {

#ifdef __x86_64__
bool has_avx2() {
  constexpr unsigned kFeatures = 1;
  constexpr unsigned kMoreFeatures = 7;
  constexpr unsigned kSavedByKernel = 0x6;  // XCR0: registers of SSE and of AVX
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(kFeatures, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0)
    return false;
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & kSavedByKernel) != kSavedByKernel) return false;
  return __get_cpuid_count(kMoreFeatures, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
}
#else
bool has_avx2() { return false; }
#endif

// Code that runs before this does without.
__attribute__((constructor(101))) void find_processor() {
  telltale_sampler_has_avx2_v1 = has_avx2() ? 1 : 0;
}

}  // namespace
}  // namespace telltale::sampler

__attribute__((visibility("default"))) uint8_t telltale_sampler_has_avx2_v1 = 0;
