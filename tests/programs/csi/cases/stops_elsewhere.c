/* Stops in code that is in no file: what was made at run time, and the kernel's library; or in a handler on a signal stack. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;
static volatile int turns = 3;

static void ready(void) {
  puts("ready");
  fflush(stdout);
}

__attribute__((noinline)) static int calls_made_code(const unsigned char* code, size_t size) {
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (i == 2) {
      void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      memcpy(page, code, size);
      mprotect(page, 4096, PROT_READ | PROT_EXEC);
      int (*made)(void);
      memcpy(&made, (const void*)&page, sizeof(made));
      sum += made();
    }
    ++sum;
  }
  return sum;
}

__attribute__((noinline)) static int asks_for_time(struct timespec* time) {
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (i == 2) sum += clock_gettime(CLOCK_MONOTONIC, time);
    ++sum;
  }
  return sum;
}

static void waits_in_handler(int number) {
  (void)number;
  ready();
  (void)getchar();
  _exit(0);
}

__attribute__((noinline)) static int is_interrupted(void) {
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    if (i == 2) sum += raise(SIGUSR1);
    ++sum;
  }
  return sum;
}

int main(int argc, char** argv) {
  static const unsigned char kFaults[] = {0x55, 0x48, 0x89, 0xe5, 0x0f, 0x0b}; /* push %rbp; mov %rsp, %rbp; ud2 */
  static const unsigned char kLoops[] = {0x55, 0x48, 0x89, 0xe5, 0xeb, 0xfe};  /* the same; jmp to itself */
  static char signal_stack[1 << 16];
  const char* const way = argc < 2 ? "" : argv[1];
  if (strcmp(way, "made-faults") == 0) sink = calls_made_code(kFaults, sizeof(kFaults));
  if (strcmp(way, "made-loops") == 0) {
    ready();
    sink = calls_made_code(kLoops, sizeof(kLoops));
  }
  if (strcmp(way, "kernel") == 0) sink = asks_for_time((struct timespec*)8);
  if (strcmp(way, "handler") == 0) {
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
    struct sigaction action = {.sa_handler = waits_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sink = is_interrupted();
  }
  return 0;
}
