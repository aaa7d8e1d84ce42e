// `fake_processor PROGRAM ARGUMENTS...`: runs a program on a simulated processor whose time stamp
// counter steps when the program requests it (fake_processor.h), for each thread separately, and
// which does not guarantee a constant counter. Every reading of the counter faults (PR_SET_TSC),
// and this process, which traces the program, supplies the value. CPUID cannot be made to fault on
// every machine: the program and its libraries contain `ud2` in its place. The system's own clocks
// stay correct.
#include "fake_processor.h"

#include <cpuid.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};
Range vdso_of(pid_t process) {
  Range found;
  const std::string path = "/proc/" + std::to_string(process) + "/maps";
  std::FILE* const maps = std::fopen(path.c_str(), "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    if (std::strstr(line, "[vdso]") != nullptr)
      std::sscanf(line, "%lx-%lx", &found.begin, &found.end);
  }
  if (maps != nullptr) std::fclose(maps);
  return found;
}

// The effect of a thread's instruction; 0: not emulated. Otherwise its length.
int execute(uint64_t code, user_regs_struct& registers, int64_t& offset, const Range& vdso) {
  const bool plain = (code & 0xffff) == 0x310f;
  if (plain || (code & 0xffffff) == 0xf9010f) {
    if (registers.rcx == fake_processor::kStepCounter) {
      offset += static_cast<int64_t>(registers.rdx);
      registers.rcx = 0;
      return 2;
    }
    uint64_t ticks = __rdtsc();
    if (registers.rip < vdso.begin || registers.rip >= vdso.end)
      ticks += static_cast<uint64_t>(offset);
    registers.rax = ticks & 0xffff'ffff;
    registers.rdx = ticks >> 32;
    if (!plain) registers.rcx = 0;
    return plain ? 2 : 3;
  }
  if ((code & 0xffff) != 0x0b0f) return 0;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const auto leaf = static_cast<unsigned>(registers.rax);
  __cpuid_count(leaf, static_cast<unsigned>(registers.rcx), a, b, c, d);
  if (leaf == 0x8000'0007) d &= ~(1U << 8);
  registers.rax = a;
  registers.rbx = b;
  registers.rcx = c;
  registers.rdx = d;
  return 2;
}

// The signal that the thread gets: none if it was for an emulated instruction.
int handle(pid_t thread, int signal, int64_t& offset, Range& vdso) {
  user_regs_struct registers{};
  if ((signal != SIGSEGV && signal != SIGILL) ||
      ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) {
    return signal;
  }
  if (vdso.end == 0) vdso = vdso_of(thread);
  const long code = ptrace(PTRACE_PEEKTEXT, thread, registers.rip, nullptr);
  const int length = execute(static_cast<uint64_t>(code), registers, offset, vdso);
  if (length == 0) return signal;
  registers.rip += static_cast<uint64_t>(length);
  ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  std::map<pid_t, int64_t> offsets;
  Range vdso;
  int status = 0;
  bool begun = false;
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (thread == child) break;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == SIGTRAP || (signal == SIGSTOP && offsets.find(thread) == offsets.end())) {
      if (!begun) ptrace(PTRACE_SETOPTIONS, thread, nullptr, PTRACE_O_TRACECLONE);
      begun = true;
      signal = 0;
    }
    signal = handle(thread, signal, offsets[thread], vdso);
    ptrace(PTRACE_CONT, thread, nullptr, signal);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
