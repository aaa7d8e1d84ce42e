/* Runs a program instruction by instruction, for tests/end_to_end/path_steps.py.

   single_step OUTPUT MAIN BEGIN END PROGRAM [ARGUMENT...]

   From the address MAIN on, before each instruction between BEGIN and END (all hexadecimal), appends a record to OUTPUT: pc, rsp, rbp,
   rbx as 64-bit numbers, then the WINDOW bytes of memory from rsp - RED_ZONE on. Prints the program's wait status. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RED_ZONE = 512, WINDOW = 2048 };

struct step {
  uint64_t pc, rsp, rbp, rbx;
  unsigned char memory[WINDOW];
};

static void record(pid_t child, const struct user_regs_struct* registers, FILE* out) {
  static struct step step;
  step.pc = registers->rip;
  step.rsp = registers->rsp;
  step.rbp = registers->rbp;
  step.rbx = registers->rbx;
  memset(step.memory, 0, sizeof step.memory);
  struct iovec local = {step.memory, WINDOW};
  struct iovec remote = {(void*)(uintptr_t)(registers->rsp - RED_ZONE), WINDOW};
  process_vm_readv(child, &local, 1, &remote, 1, 0); /* less than WINDOW near the end of the stack */
  fwrite(&step, sizeof step, 1, out);
}

/* What the dynamic linker does is long, and not looked at. */
static void run_to(pid_t child, uint64_t address) {
  const long code = ptrace(PTRACE_PEEKTEXT, child, (void*)(uintptr_t)address, 0);
  struct user_regs_struct registers;
  int status;
  ptrace(PTRACE_POKETEXT, child, (void*)(uintptr_t)address, (void*)((code & ~0xffl) | 0xcc));
  ptrace(PTRACE_CONT, child, 0, 0);
  waitpid(child, &status, 0);
  ptrace(PTRACE_POKETEXT, child, (void*)(uintptr_t)address, (void*)code);
  ptrace(PTRACE_GETREGS, child, 0, &registers);
  registers.rip = address;
  ptrace(PTRACE_SETREGS, child, 0, &registers);
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  FILE* const out = fopen(argv[1], "wb");
  const uint64_t first = strtoull(argv[2], 0, 16), begin = strtoull(argv[3], 0, 16), end = strtoull(argv[4], 0, 16);
  if (!out) return 2;
  const pid_t child = fork();
  if (child == 0) {
    personality(ADDR_NO_RANDOMIZE);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[5], argv + 5);
    _exit(127);
  }
  int status, signal = 0;
  waitpid(child, &status, 0);
  run_to(child, first);
  while (WIFSTOPPED(status)) {
    struct user_regs_struct registers;
    ptrace(PTRACE_GETREGS, child, 0, &registers);
    if (registers.rip >= begin && registers.rip < end) record(child, &registers, out);
    if (ptrace(PTRACE_SINGLESTEP, child, 0, signal) != 0 || waitpid(child, &status, 0) != child) return 2;
    signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
  }
  printf("%d\n", status);
  return fclose(out) == 0 ? 0 : 2;
}
