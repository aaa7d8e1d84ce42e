// Whether an instrumented call preserves all registers: complete vector registers (of up to 64
// bytes), mask registers, general ones, MXCSR, x87 control, errno. Prints how many calls changed
// any.
#include <cpuid.h>
#include <xmmintrin.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

// Empty: it only has the sleds.
extern "C" [[clang::xray_always_instrument, gnu::noinline]] void empty() { asm volatile(""); }

namespace {

struct alignas(64) Registers {
  uint8_t area[4096];  // as XSAVE writes it
  uint64_t general[9];
  uint64_t mask;  // the components that XSAVE and XRSTOR handle: AMX's tiles would not fit
};
static_assert(offsetof(Registers, mask) == 4168);

uint64_t state = 88172645463325252ULL;
uint64_t random_word() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// XSAVE's mask: x87, SSE, AVX and, where there are any, AVX-512's three.
uint64_t components() {
  uint32_t low;
  uint32_t high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low & 0xE7;
}

__attribute__((noinline)) void round_trip(Registers* in, Registers* out, uint64_t mask) {
  asm volatile(
      "mov %[mask], %%rax\n"
      "mov %%rax, %%rdx\n"
      "shr $32, %%rdx\n"
      "mov %[in], %%rbx\n"
      "mov %[out], %%r12\n"
      "xrstor64 (%%rbx)\n"
      "mov 4096(%%rbx), %%rax\n"
      "mov 4104(%%rbx), %%rcx\n"
      "mov 4112(%%rbx), %%rdx\n"
      "mov 4120(%%rbx), %%rsi\n"
      "mov 4128(%%rbx), %%rdi\n"
      "mov 4136(%%rbx), %%r8\n"
      "mov 4144(%%rbx), %%r9\n"
      "call empty\n"
      "mov %%rax, 4096(%%r12)\n"
      "mov %%rcx, 4104(%%r12)\n"
      "mov %%rdx, 4112(%%r12)\n"
      "mov %%rsi, 4120(%%r12)\n"
      "mov %%rdi, 4128(%%r12)\n"
      "mov %%r8, 4136(%%r12)\n"
      "mov %%r9, 4144(%%r12)\n"
      "mov 4168(%%rbx), %%rax\n"
      "mov %%rax, %%rdx\n"
      "shr $32, %%rdx\n"
      "xsave64 (%%r12)\n"
      :
      : [in] "r"(in), [out] "r"(out), [mask] "r"(mask)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "memory");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const uint64_t mask = components();
  static Registers in;
  static Registers out;
  static Registers start;
  in.mask = mask;
  asm volatile("xsave64 %0" : "=m"(start.area) : "a"(mask), "d"(mask >> 32));
  int changed = 0;
  // What XSAVE writes of the components, past the legacy area and header.
  uint32_t a, bytes, c, d;
  __cpuid_count(0xD, 0, a, bytes, c, d);
  if (bytes > sizeof(in.area)) bytes = sizeof(in.area);
  for (int i = 0; i < rounds; ++i) {
    std::memcpy(in.area, start.area, sizeof(in.area));
    for (size_t at = 160; at < 416; at += 8) {
      const uint64_t word = random_word();
      std::memcpy(in.area + at, &word, 8);
    }
    for (uint32_t component : {2U, 5U, 6U, 7U}) {
      if ((mask >> component & 1) == 0) continue;
      uint32_t size, offset;
      __cpuid_count(0xD, component, size, offset, c, d);
      for (size_t at = offset; at + 8 <= offset + size && at + 8 <= sizeof(in.area); at += 8) {
        const uint64_t word = random_word();
        std::memcpy(in.area + at, &word, 8);
      }
    }
    const uint32_t mxcsr = 0x1F80 | static_cast<uint32_t>(random_word() & 3) << 13;  // rounding
    std::memcpy(in.area + 24, &mxcsr, 4);
    std::memcpy(in.area + 512, &mask, 8);
    for (uint64_t& word : in.general) word = random_word();
    const int number = static_cast<int>(random_word() % 100);
    errno = number;
    round_trip(&in, &out, mask);
    bool same = errno == number && std::memcmp(in.general, out.general, 7 * 8) == 0 &&
                std::memcmp(in.area + 24, out.area + 24, 4) == 0 &&
                std::memcmp(in.area + 160, out.area + 160, 256) == 0;
    for (uint32_t component : {2U, 5U, 6U, 7U}) {
      if ((mask >> component & 1) == 0) continue;
      uint32_t size, offset;
      __cpuid_count(0xD, component, size, offset, c, d);
      if (offset + size <= sizeof(in.area))
        same = same && std::memcmp(in.area + offset, out.area + offset, size) == 0;
    }
    changed += !same;
    _mm_setcsr(0x1F80);
  }
  std::printf("{\"calls\": {\"empty\": %d}, \"changed\": %d, \"components\": %llu}\n", rounds,
              changed, static_cast<unsigned long long>(mask));
}
