// Crashes in ways that make it hard to write what ran. The last line of leaf() is never reached.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

volatile int sink;

static int waits;

__attribute__((noinline)) static int leaf(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i & 1)
      sum += 2;
    else
      sum += 5;
  }
  if (waits) {
    puts("waits");
    fflush(stdout);
    pause();
  }
  *(volatile int*)0 = sum;
  return sum + sink;  // not reached
}

// Other users than root cannot read the memory of their own process through /proc then.
static void drop_rights(void) {
  if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) exit(9);
  if (prctl(PR_SET_DUMPABLE, 0) != 0) exit(9);
}

static void use_up_descriptors(void) {
  while (open("/dev/null", O_RDONLY) >= 0) sink = sink + 1;
}

static void on_fault(int signal) {
  if (signal != 0) abort();
}

// The program's own handler, on a stack of its own, ends the process.
static void set_handler(void) {
  static char memory[1 << 16];
  const stack_t stack = {memory, 0, sizeof(memory)};
  struct sigaction action = {0};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0) exit(9);
}

// A part of the stack that is locked is a mapping of its own.
__attribute__((noinline)) static int lock_stack(int depth) {
  volatile char room[300];
  room[0] = (char)depth;
  if (depth == 40) mlock((void*)((uintptr_t)room & ~(uintptr_t)4095), 4096);
  return depth == 80 ? leaf(5) : lock_stack(depth + 1) + room[0];
}

static pthread_barrier_t barrier;

static void* crash_together(void* argument) {
  pthread_barrier_wait(&barrier);
  leaf(5);
  return argument;
}

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

static void* wait_for_ever(void* argument) {
  pthread_mutex_lock(&taken);
  sink = 2;  // not reached
  return argument;
}

static void start_threads(int count, void* (*run)(void*)) {
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&thread, &small, run, NULL) != 0) exit(8);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "rights") == 0) drop_rights();
  if (strcmp(how, "descriptors") == 0) use_up_descriptors();
  if (strcmp(how, "handler") == 0) set_handler();
  if (strcmp(how, "locked") == 0) {
    waits = argc > 2;
    return lock_stack(0);
  }
  if (strcmp(how, "together") == 0) {
    pthread_barrier_init(&barrier, NULL, 8);
    start_threads(8, crash_together);
    pause();
  }
  if (strcmp(how, "threads") == 0) {
    pthread_mutex_lock(&taken);
    start_threads(atoi(argv[2]), wait_for_ever);
    usleep(300000);
  }
  if (strcmp(how, "late") == 0) return atexit(abort);
  return leaf(5);
}
