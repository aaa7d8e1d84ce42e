/* Calls the handler that the kernel has for SIGSEGV with a stack that is off by eight bytes, as
   qemu-user 7.2 does. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

static void on_signal(int number, siginfo_t *info, void *context) {
  struct kernel_action action;
  (void)number;
  syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action, sizeof(action.mask));
  info->si_signo = SIGSEGV;
  register long first __asm__("rdi") = SIGSEGV;
  register siginfo_t *second __asm__("rsi") = info;
  register void *third __asm__("rdx") = context;
  /* Below the red zone. The call itself stores eight bytes. */
  __asm__ volatile(
      "mov %%rsp, %%rbx\n\t"
      "sub $128, %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "sub $8, %%rsp\n\t"
      "call *%[handler]\n\t"
      "mov %%rbx, %%rsp"
      : "+r"(first), "+r"(second), "+r"(third)
      : [handler] "r"(action.handler)
      : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
}

static int may_crash(int crashes) {
  if (crashes) raise(SIGUSR1);
  return crashes + 1;
}

int main(int argc, char **argv) {
  (void)argv;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  puts("begins");
  fflush(stdout);
  return may_crash(argc > 1);
}
