/* Calls the handler that the kernel has for a signal, with a stack that is off by eight bytes, as
   qemu-user 7.2 does. */
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void call_misaligned(int number, siginfo_t* info, void* context) {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action;
  syscall(SYS_rt_sigaction, number, (void*)0, &action, sizeof(action.mask));
  /* Below the red zone. The call itself stores eight bytes. */
  __asm__ volatile(
      "mov %%rsp, %%rbx\n\t"
      "sub $128, %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "sub $8, %%rsp\n\t"
      "call *%[handler]\n\t"
      "mov %%rbx, %%rsp"
      : "+D"(number), "+S"(info), "+d"(context)
      : [handler] "r"(action.handler)
      : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
}
