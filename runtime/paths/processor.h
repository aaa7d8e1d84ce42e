// What the crash handler has to know of the processor: which registers a core file has, in which
// order (asm/ptrace.h: user_regs_struct of x86-64, user_pt_regs of AArch64), and which of them is
// the stack pointer. TELLTALE_PATHS_PROCESSOR is defined for processors that have a crash handler.
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/procfs.h>
#include <ucontext.h>

namespace telltale::paths {

#if defined(__x86_64__)
#define TELLTALE_PATHS_PROCESSOR
constexpr uint16_t kMachine = EM_X86_64;
// Of a ucontext_t, up to what tells the stack and the stack pointer.
constexpr size_t kContextBytes = offsetof(ucontext_t, uc_sigmask);

inline uint64_t thread_pointer() {
  uint64_t pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}
inline uint64_t stack_pointer(const ucontext_t& context) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
}
inline uint64_t stack_pointer(const elf_gregset_t& registers) { return registers[19]; }

// -1: segments and others that nobody needs.
inline void copy_registers(const ucontext_t& context, elf_gregset_t& registers) {
  constexpr int kOrder[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11,
                            REG_R10, REG_R9,  REG_R8,  REG_RAX, REG_RCX, REG_RDX, REG_RSI,
                            REG_RDI, -1,      REG_RIP, -1,      REG_EFL, REG_RSP};
  constexpr size_t kSystemCall = 15;
  constexpr size_t kThreadPointer = 21;
  for (size_t i = 0; i < sizeof(kOrder) / sizeof(kOrder[0]); ++i) {
    if (kOrder[i] >= 0)
      registers[i] = static_cast<elf_greg_t>(context.uc_mcontext.gregs[kOrder[i]]);
  }
  registers[kSystemCall] = ~elf_greg_t{0};
  registers[kThreadPointer] = thread_pointer();
}

#elif defined(__aarch64__)
#define TELLTALE_PATHS_PROCESSOR
constexpr uint16_t kMachine = EM_AARCH64;
constexpr size_t kContextBytes = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, pc);

inline uint64_t thread_pointer() {
  uint64_t pointer = 0;
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}
inline uint64_t stack_pointer(const ucontext_t& context) { return context.uc_mcontext.sp; }
inline uint64_t stack_pointer(const elf_gregset_t& registers) { return registers[31]; }

inline void copy_registers(const ucontext_t& context, elf_gregset_t& registers) {
  const auto& from = context.uc_mcontext;
  ::memcpy(registers, from.regs, sizeof(from.regs));
  const elf_greg_t rest[] = {from.sp, from.pc, from.pstate};
  ::memcpy(&registers[sizeof(from.regs) / sizeof(from.regs[0])], rest, sizeof(rest));
}

#else
constexpr uint16_t kMachine = EM_NONE;
constexpr size_t kContextBytes = sizeof(ucontext_t);

inline uint64_t thread_pointer() { return 0; }
inline uint64_t stack_pointer(const ucontext_t&) { return 0; }
inline uint64_t stack_pointer(const elf_gregset_t&) { return 0; }
inline void copy_registers(const ucontext_t&, elf_gregset_t&) {}
#endif

}  // namespace telltale::paths
