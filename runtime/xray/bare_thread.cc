#include "bare_thread.h"

#include <sched.h>

#include "syscalls.h"

namespace telltale::recorder {
namespace {

constexpr size_t kStackBytes = size_t{16} * 1024;

}  // namespace

// The new thread's first code. Its stack holds the function to run and then the stack's own
// address. It returns the stack to the kernel, and uses none from then on.
asm(R"(
.pushsection .text
.type telltale_xray_bare_thread, @function
telltale_xray_bare_thread:
  .cfi_startproc
  .cfi_undefined rip
  xorl %ebp, %ebp
  popq %rax
  popq %rbx
  call *%rax
  movl $11, %eax      # munmap
  movq %rbx, %rdi
  movl $16384, %esi
  syscall
  movl $60, %eax      # exit, of this thread
  xorl %edi, %edi
  syscall
  hlt
  .cfi_endproc
.size telltale_xray_bare_thread, . - telltale_xray_bare_thread
.popsection
)");
static_assert(SYS_munmap == 11 && SYS_exit == 60 && kStackBytes == 16384);

bool start_bare_thread(void (*run)()) {
  auto* const stack = static_cast<std::byte*>(sys::map_private(kStackBytes));
  if (stack == nullptr) return false;
  auto* const top = reinterpret_cast<uint64_t*>(stack + kStackBytes - 2 * sizeof(uint64_t));
  top[0] = reinterpret_cast<uint64_t>(run);
  top[1] = reinterpret_cast<uint64_t>(stack);
  constexpr long kFlags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  long result;
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  // Not a call that could return twice: the new thread leaves at once.
  asm volatile(
      "syscall\n"
      "testq %%rax, %%rax\n"
      "jz telltale_xray_bare_thread"
      : "=a"(result)
      : "a"(long{SYS_clone}), "D"(kFlags), "S"(top), "d"(0L), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  if (!sys::failed(result)) return true;
  sys::call(SYS_munmap, stack, kStackBytes);
  return false;
}

}  // namespace telltale::recorder
