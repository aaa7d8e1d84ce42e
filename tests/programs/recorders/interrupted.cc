// A signal handler between any two instructions of the hooks: the trap flag makes the processor
// raise SIGTRAP after each instruction, and at the one that is wanted the handler calls what is
// recorded too. Each place has a thread of its own, whose buffer begins anew. For both recorders: a
// call of leaf() is a StackTrack checkpoint with -DSTACKTRACK, and one of logged() logs a variable.
//
// interrupted STEPS BEFORE HANDLER FUNCTION: for each of STEPS, a thread calls FUNCTION ("leaf", or
// "logged", whose argument is recorded) BEFORE times, is interrupted while it calls it once more,
// and calls it 20 times more. HANDLER is the number of calls that the handler makes. Prints one
// line of JSON: how many calls were made, and how often the handler came.
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(STACKTRACK)
#include <telltale/stacktrack.hpp>
#define RECORDED __attribute__((noinline))
#define LOGGED
#define PLAIN
#else
#define TELLTALE_STEP(name)
#define TELLTALE_VALUE(name, value)
#define LOGGED [[clang::xray_log_args(1)]]
#define RECORDED [[clang::xray_always_instrument]] __attribute__((noinline))
#define PLAIN [[clang::xray_never_instrument]] __attribute__((no_instrument_function))
#endif

RECORDED int leaf(int x) {
  TELLTALE_STEP("leaf");
  asm volatile("" : "+r"(x));
  return x + 1;
}

LOGGED RECORDED int logged(int x) {
  TELLTALE_VALUE("x", x);
  asm volatile("" : "+r"(x));
  return x + 2;
}

namespace {

using Function = int (*)(int);

constexpr greg_t kTrapFlag = 0x100;
uint64_t calls = 0;  // by one thread at a time
uint64_t interruptions = 0;
Function function = leaf;
int steps_wanted = 0;
int calls_in_handler = 0;
int calls_before = 0;
volatile int steps = 0;
volatile bool stepping = false;

PLAIN bool enters_the_kernel(const ucontext_t* context) {
  const auto* next = reinterpret_cast<const unsigned char*>(context->uc_mcontext.gregs[REG_RIP]);
  return next[0] == 0x0f && next[1] == 0x05;
}

PLAIN void on_step(int, siginfo_t*, void* data) {
  auto* const context = static_cast<ucontext_t*>(data);
  greg_t& flags = context->uc_mcontext.gregs[REG_EFL];
  steps = steps + 1;
  if (!stepping) {
    flags &= ~kTrapFlag;
  } else if (steps == steps_wanted) {
    stepping = false;
    flags &= ~kTrapFlag;
    for (int i = 0; i < calls_in_handler; ++i) function(i);
    calls += static_cast<uint64_t>(calls_in_handler);
    ++interruptions;
  } else if (enters_the_kernel(context)) {
    // The recorder is about to block signals: a trap would end the process, and no handler could
    // run.
    stepping = false;
    flags &= ~kTrapFlag;
  }
}

PLAIN void* interrupted_thread(void*) {
  for (int i = 0; i < calls_before; ++i) function(i);
  steps = 0;
  stepping = true;
  asm volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" : : : "memory", "cc");
  function(1);
  stepping = false;
  asm volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" : : : "memory", "cc");
  for (int i = 0; i < 20; ++i) function(i);
  calls += static_cast<uint64_t>(calls_before) + 21;
  return nullptr;
}

}  // namespace

PLAIN int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int most_steps = std::atoi(argv[1]);
  calls_before = std::atoi(argv[2]);
  calls_in_handler = std::atoi(argv[3]);
  struct sigaction action{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  for (steps_wanted = 1; steps_wanted <= most_steps; ++steps_wanted) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, interrupted_thread, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  std::printf("{\"calls\": %llu, \"interruptions\": %llu}\n",
              static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(interruptions));
  return 0;
}
