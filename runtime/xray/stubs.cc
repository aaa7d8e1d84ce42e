// From a sled to a hook. The hooks preserve all registers but flags and, if clang compiled them,
// their own parameters; the stubs preserve those and the registers that they use. Entry and
// tail-exit sleds call, exit sleds jump here, so that for exits the function's own return address
// is one word lower than for the other two. Custom and typed events are in the middle of a
// function, where flags may be live.

#if !defined(__x86_64__)
#error "telltale's XRay recorder is for x86-64"
#endif

#define FUNCTION_STUB(name, return_address)   \
  asm(".text\n.p2align 4\n"                   \
      ".globl telltale_xray_" name            \
      "_stub\n"                               \
      ".hidden telltale_xray_" name           \
      "_stub\n"                               \
      ".type telltale_xray_" name             \
      "_stub, @function\n"                    \
      "telltale_xray_" name                   \
      "_stub:\n"                              \
      ".cfi_startproc\n"                      \
      "push %rdi\n.cfi_adjust_cfa_offset 8\n" \
      "push %rsi\n.cfi_adjust_cfa_offset 8\n" \
      "mov %r10d, %edi\n"                     \
      "lea " return_address                   \
      "(%rsp), %rsi\n"                        \
      "call *telltale_xray_" name             \
      "_hook(%rip)\n"                         \
      "pop %rsi\n.cfi_adjust_cfa_offset -8\n" \
      "pop %rdi\n.cfi_adjust_cfa_offset -8\n" \
      "ret\n.cfi_endproc\n"                   \
      ".size telltale_xray_" name "_stub, . - telltale_xray_" name "_stub\n")

FUNCTION_STUB("enter", "24");
FUNCTION_STUB("exit", "16");
FUNCTION_STUB("tail", "24");

asm(".text\n.p2align 4\n"
    ".globl telltale_xray_argument_stub\n"
    ".hidden telltale_xray_argument_stub\n"
    ".type telltale_xray_argument_stub, @function\n"
    "telltale_xray_argument_stub:\n"
    ".cfi_startproc\n"
    "push %rdi\n.cfi_adjust_cfa_offset 8\n"
    "push %rsi\n.cfi_adjust_cfa_offset 8\n"
    "push %rdx\n.cfi_adjust_cfa_offset 8\n"
    "mov %rdi, %rdx\n"
    "mov %r10d, %edi\n"
    "lea 32(%rsp), %rsi\n"
    "call *telltale_xray_argument_hook(%rip)\n"
    "pop %rdx\n.cfi_adjust_cfa_offset -8\n"
    "pop %rsi\n.cfi_adjust_cfa_offset -8\n"
    "pop %rdi\n.cfi_adjust_cfa_offset -8\n"
    "ret\n.cfi_endproc\n"
    ".size telltale_xray_argument_stub, . - telltale_xray_argument_stub\n");

#define EVENT_STUB(name)                      \
  asm(".text\n.p2align 4\n"                   \
      ".globl telltale_xray_" name            \
      "_stub\n"                               \
      ".hidden telltale_xray_" name           \
      "_stub\n"                               \
      ".type telltale_xray_" name             \
      "_stub, @function\n"                    \
      "telltale_xray_" name                   \
      "_stub:\n"                              \
      ".cfi_startproc\n"                      \
      "pushfq\n.cfi_adjust_cfa_offset 8\n"    \
      "push %rdi\n.cfi_adjust_cfa_offset 8\n" \
      "push %rsi\n.cfi_adjust_cfa_offset 8\n" \
      "push %rdx\n.cfi_adjust_cfa_offset 8\n" \
      "call telltale_xray_" name              \
      "_hook\n"                               \
      "pop %rdx\n.cfi_adjust_cfa_offset -8\n" \
      "pop %rsi\n.cfi_adjust_cfa_offset -8\n" \
      "pop %rdi\n.cfi_adjust_cfa_offset -8\n" \
      "popfq\n.cfi_adjust_cfa_offset -8\n"    \
      "ret\n.cfi_endproc\n"                   \
      ".size telltale_xray_" name "_stub, . - telltale_xray_" name "_stub\n")

EVENT_STUB("custom");
EVENT_STUB("typed");

asm(".section .note.GNU-stack, \"\", @progbits\n.text\n");
