/* Runs a program instruction by instruction, and crashes copies of it at given steps, for
   tests/end_to_end/path_crash_points.py.

   crash_points EVENTS ADDRESSES POINTS MOST MAIN PROGRAM [ARGUMENT...]

   Steps are counted from MAIN on, the hexadecimal address of the program's main, for at most MOST
   steps. ADDRESSES holds 64-bit addresses: before each instruction at one of them, EVENTS gets a
   record: step, pc, rsp as 64-bit numbers. POINTS has lines "STEP SIGNAL", in ascending order:
   before this step, the process is copied as by fork, and the copy gets the signal. For each,
   prints "STEP PC RSP STATUS PID" (decimal), where STATUS is how the copy ended; at the end "steps
   COUNT". Addresses are those of the file. The program has one thread, its output is dropped, and
   its address space is not randomised: a run can be repeated. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static uint64_t bias;

static void fail(const char* what) {
  fprintf(stderr, "crash_points: %s: %s\n", what, strerror(errno));
  if (child > 0) kill(child, SIGKILL);
  exit(2);
}

static void* address(uint64_t value) { return (void*)(uintptr_t)value; }

static void get(pid_t pid, struct user_regs_struct* registers) {
  if (ptrace(PTRACE_GETREGS, pid, 0, registers) != 0) fail("registers");
}

static void set(pid_t pid, const struct user_regs_struct* registers) {
  if (ptrace(PTRACE_SETREGS, pid, 0, registers) != 0) fail("registers");
}

static long peek(pid_t pid, uint64_t at) {
  errno = 0;
  const long word = ptrace(PTRACE_PEEKTEXT, pid, address(at), 0);
  if (errno != 0) fail("code");
  return word;
}

static void poke(pid_t pid, uint64_t at, long word) {
  if (ptrace(PTRACE_POKETEXT, pid, address(at), word) != 0) fail("code");
}

static void wait_stopped(pid_t pid) {
  int status;
  if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) fail("a stop");
}

/* Where the program is loaded: where it begins, less where its file says that it begins. */
static uint64_t find_bias(const char* program) {
  Elf64_Ehdr header;
  FILE* const file = fopen(program, "rb");
  if (!file || fread(&header, sizeof header, 1, file) != 1) fail(program);
  fclose(file);
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/auxv", (int)child);
  FILE* const vector = fopen(name, "rb");
  Elf64_auxv_t entry;
  while (vector && fread(&entry, sizeof entry, 1, vector) == 1) {
    if (entry.a_type != AT_ENTRY) continue;
    fclose(vector);
    return entry.a_un.a_val - header.e_entry;
  }
  fail(name);
  return 0;
}

/* What the dynamic linker does is long, and not looked at. */
static void run_to(uint64_t place) {
  const long code = peek(child, place);
  poke(child, place, (code & ~0xffl) | 0xcc);
  ptrace(PTRACE_CONT, child, 0, 0);
  wait_stopped(child);
  poke(child, place, code);
  struct user_regs_struct registers;
  get(child, &registers);
  if (registers.rip != place + 1) fail("main is not reached");
  registers.rip = place;
  set(child, &registers);
}

/* A copy of the stopped process, stopped at the same instruction: the process makes a system call
 * instead of its instruction. */
static pid_t copy_process(const struct user_regs_struct* before) {
  const long code = peek(child, before->rip);
  poke(child, before->rip, (code & ~0xffffl) | 0x050f);
  struct user_regs_struct registers = *before;
  registers.rax = SYS_clone;
  registers.orig_rax = -1;
  registers.rdi =
      CLONE_PARENT; /* a child of this program; the copied process must not see it end */
  registers.rsi = registers.rdx = registers.r10 = registers.r8 = 0;
  set(child, &registers);
  if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0) fail("a step");
  wait_stopped(child);
  unsigned long copy = 0;
  if (ptrace(PTRACE_GETEVENTMSG, child, 0, &copy) != 0 || copy == 0) fail("a copy");
  wait_stopped((pid_t)copy);
  if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0) fail("a step");
  wait_stopped(child);
  registers = *before;
  registers.orig_rax = -1;
  const pid_t both[] = {child, (pid_t)copy};
  for (int i = 0; i < 2; ++i) {
    poke(both[i], before->rip, code);
    set(both[i], &registers);
  }
  return (pid_t)copy;
}

static int crash(pid_t copy, int signal) {
  int status;
  if (ptrace(PTRACE_DETACH, copy, 0, signal) != 0) fail("a crash");
  if (waitpid(copy, &status, __WALL) != copy) fail("an end");
  return status;
}

/* A byte for each address from *first on, 1 for those in the file. */
static unsigned char* read_addresses(const char* name, uint64_t* first, uint64_t* size) {
  FILE* const file = fopen(name, "rb");
  if (!file) fail(name);
  uint64_t low = UINT64_MAX, high = 0, at;
  while (fread(&at, sizeof at, 1, file) == 1) {
    low = at < low ? at : low;
    high = at > high ? at : high;
  }
  *first = low;
  *size = high >= low ? high - low + 1 : 0;
  unsigned char* const wanted = calloc(*size + 1, 1);
  if (!wanted) fail("memory");
  rewind(file);
  while (fread(&at, sizeof at, 1, file) == 1) wanted[at - low] = 1;
  fclose(file);
  return wanted;
}

static void start(char** command) {
  /* Both on one processor: a step costs two switches between them. */
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    personality(ADDR_NO_RANDOMIZE);
    /* Shells start background jobs with these ignored; the program would survive them. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(command[0], command);
    _exit(127);
  }
  wait_stopped(child);
  ptrace(PTRACE_SETOPTIONS, child, 0,
         PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
}

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  FILE* const events = fopen(argv[1], "wb");
  FILE* const points = fopen(argv[3], "r");
  if (!events || !points) fail("a file");
  uint64_t first, size;
  const unsigned char* const wanted = read_addresses(argv[2], &first, &size);
  const uint64_t most = strtoull(argv[4], 0, 10);
  start(argv + 6);
  bias = find_bias(argv[6]);
  run_to(bias + strtoull(argv[5], 0, 16));

  unsigned long long point = UINT64_MAX, step = 0;
  int signal = 0;
  if (fscanf(points, "%llu %d", &point, &signal) != 2) point = UINT64_MAX;
  for (; step < most; ++step) {
    errno = 0;
    const uint64_t pc =
        (uint64_t)ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, rip), 0) - bias;
    const int is_wanted = pc - first < size && wanted[pc - first];
    if (is_wanted || step == point) {
      struct user_regs_struct registers;
      get(child, &registers);
      if (is_wanted) {
        const uint64_t record[] = {step, pc, registers.rsp};
        fwrite(record, sizeof record, 1, events);
      }
      while (step == point) {
        const pid_t copy = copy_process(&registers);
        const int ended = crash(copy, signal);
        printf("%llu %llu %llu %d %d\n", step, (unsigned long long)pc,
               (unsigned long long)registers.rsp, ended, (int)copy);
        if (fscanf(points, "%llu %d", &point, &signal) != 2) point = UINT64_MAX;
      }
    }
    int status, delivered = 0;
    for (;;) {
      if (ptrace(PTRACE_SINGLESTEP, child, 0, delivered) != 0 ||
          waitpid(child, &status, __WALL) != child)
        fail("a step");
      if (!WIFSTOPPED(status) || WSTOPSIG(status) == SIGTRAP) break;
      delivered = WSTOPSIG(status);
    }
    if (!WIFSTOPPED(status)) break;
  }
  printf("steps %llu\n", step);
  if (step == most) kill(child, SIGKILL);
  return fclose(events) == 0 ? 0 : 2;
}
