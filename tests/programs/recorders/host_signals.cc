// R6: every signal of the host with every way to handle it, installed before the recorder starts
// and after it. `host_signals none|file|memory PREFIX`: one line for each combination, with what
// the handler saw and how the process ended; the lines have to be the same with a recorder and
// without. Recordings are PREFIX.<combination>.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "event.h"

namespace {

enum class Way { standard, ignored, classic, information, own_stack, once, masked, last_words };
constexpr const char* kWays[] = {"SIG_DFL",    "SIG_IGN",      "classic",    "SA_SIGINFO",
                                 "SA_ONSTACK", "SA_RESETHAND", "SA_NODEFER", "last words"};
constexpr int kSignals[] = {
    SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTRAP,
    SIGSYS,  SIGTERM, SIGUSR1, SIGUSR2, 0};  // 0: the first real-time signal

// The handler's observations, in memory that outlives the child.
struct Seen {
  int times;
  int code;
  int value;
  bool right_address;
  bool from_us;
  bool on_normal_stack;
  bool on_own_stack;
  bool right_context;
  int error;
  uint64_t mask;
  uint64_t mask_before;
};
Seen* seen;
char* own_stack;
constexpr size_t kOwnStack = 1U << 17;
const char* main_stack;
volatile char* bad_address = reinterpret_cast<volatile char*>(16);

uint64_t low_bits(const sigset_t& set) {
  uint64_t bits = 0;
  for (int i = 1; i < 64; ++i) bits |= sigismember(&set, i) == 1 ? uint64_t{1} << i : 0;
  return bits;
}

void handled() {
  const char here = 0;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  seen->mask = low_bits(mask);
  seen->on_own_stack = &here >= own_stack && &here < own_stack + kOwnStack;
  seen->on_normal_stack = main_stack - &here >= 0 && main_stack - &here < (1 << 20);
  seen->error = errno;
  // A fault is raised again for ever.
  if (++seen->times == 3) _exit(40);
}
void on_signal(int) { handled(); }
// As servers do, which print a stack trace and then end as if they had no handler.
void on_last_words(int number) {
  handled();
  signal(number, SIG_DFL);
  raise(number);
}
void on_information(int number, siginfo_t* info, void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  seen->code = info->si_code;
  seen->value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
  seen->from_us = info->si_code <= 0 && info->si_pid == getpid() && info->si_uid == getuid();
  seen->right_address = number != SIGSEGV || info->si_addr == bad_address;
  seen->mask_before = low_bits(machine->uc_sigmask);
  seen->right_context = machine->uc_mcontext.gregs[REG_RIP] != 0 && info->si_signo == number;
  handled();
}

void install(int number, Way way) {
  struct sigaction action{};
  action.sa_handler = way == Way::standard ? SIG_DFL : way == Way::ignored ? SIG_IGN : on_signal;
  if (way == Way::information || way == Way::own_stack || way == Way::masked) {
    action.sa_sigaction = on_information;
    action.sa_flags = SA_SIGINFO;
  }
  if (way == Way::own_stack) {
    stack_t stack{};
    stack.ss_sp = own_stack;
    stack.ss_size = kOwnStack;
    sigaltstack(&stack, nullptr);
    action.sa_flags |= SA_ONSTACK;
  }
  if (way == Way::last_words) action.sa_handler = on_last_words;
  if (way == Way::once) action.sa_flags = static_cast<int>(SA_RESETHAND);
  if (way == Way::masked) {
    action.sa_flags |= SA_NODEFER | SA_RESTART;
    sigaddset(&action.sa_mask, SIGWINCH);
    sigaddset(&action.sa_mask, SIGURG);
  }
  sigaction(number, &action, nullptr);
}

// A real fault if there is one, otherwise the signal as a program would be sent it.
void trigger(int number, const std::string& folder) {
  errno = 77;
  if (number == SIGSEGV) *bad_address = 1;
  if (number == SIGFPE) asm volatile("xorl %%ecx, %%ecx\n idivl %%ecx" : : : "rax", "rcx", "rdx");
  if (number == SIGILL) asm volatile("ud2");
  if (number == SIGABRT) abort();
  if (number == SIGTRAP) asm volatile("int3");
  if (number == SIGBUS) {
    const int file = open((folder + ".cut").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    (void)!ftruncate(file, 4096);
    auto* const mapped = static_cast<volatile char*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    (void)!ftruncate(file, 0);
    *mapped = 1;
  }
  sigval value{};
  value.sival_int = 4711;
  if (number == SIGSYS || number == SIGTERM) raise(number);
  if (number == SIGUSR1 || number == SIGUSR2) kill(getpid(), number);
  if (number == SIGRTMIN) sigqueue(getpid(), number, value);
}

[[noreturn]] void child(int number, Way way, bool before, const std::string& how,
                        const std::string& path) {
  rlimit cores{};
  getrlimit(RLIMIT_CORE, &cores);
  cores.rlim_cur = cores.rlim_max;
  setrlimit(RLIMIT_CORE, &cores);
  if (before) install(number, way);
  if (how != "none" && !start(path, how == "memory")) _exit(50);
  if (!before) install(number, way);
  events(100);
  trigger(number, path);
  // The same signal again: the handler is still installed, or was for one time.
  trigger(number, path);
  _exit(seen->error == 0 || seen->error == 77 ? 41 : 42);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "none";
  const std::string prefix = argc > 2 ? argv[2] : "host_signals";
  const char here = 0;
  main_stack = &here;
  seen = static_cast<Seen*>(
      mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  own_stack = static_cast<char*>(
      mmap(nullptr, kOwnStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int combination = 0;
  for (const int listed : kSignals) {
    const int number = listed == 0 ? SIGRTMIN : listed;
    for (int i = 0; i < 8; ++i) {
      for (const bool before : {true, false}) {
        *seen = {};
        std::fflush(stdout);
        const pid_t made = fork();
        const std::string path = prefix + "." + std::to_string(combination);
        if (made == 0) child(number, static_cast<Way>(i), before, how, path);
        int status = 0;
        if (made < 0 || waitpid(made, &status, 0) != made) return 1;
        std::printf(
            "%d %s %s %s: %d times, code %d, value %d, address %d, from us %d, stack %d/%d, "
            "context %d, errno %d, masks %llx %llx; %s %d, core %d\n",
            combination++, strsignal(number), kWays[i], before ? "before" : "after", seen->times,
            seen->code, seen->value, seen->right_address, seen->from_us, seen->on_normal_stack,
            seen->on_own_stack, seen->right_context, seen->error,
            static_cast<unsigned long long>(seen->mask),
            static_cast<unsigned long long>(seen->mask_before),
            WIFSIGNALED(status) ? "signal" : "exit",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
            WIFSIGNALED(status) && WCOREDUMP(status));
      }
    }
  }
  return 0;
}
