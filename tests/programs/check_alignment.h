/* Has the processor check the alignment of addresses: SIGBUS for one that is unaligned. */
#pragma once

static inline void check_alignment(void) {
  /* Below the red zone. */
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "pushfq\n\t"
      "orl $0x40000, (%%rsp)\n\t"
      "popfq\n\t"
      "lea 128(%%rsp), %%rsp"
      :
      :
      : "memory", "cc");
}
