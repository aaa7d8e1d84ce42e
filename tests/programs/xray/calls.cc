// Every way in which a call can begin and end: plain calls, recursion, tail calls, exceptions,
// longjmp, threads, and a call that is open when the recording ends. Prints its own counts.

#include <csetjmp>
#include <stdexcept>
#include <thread>

#include "recorder.h"

namespace {
volatile int sink;
std::jmp_buf landing;
}  // namespace

TRACED void leaf(int x) {
  sink = sink + x;
  recorder::returned("leaf");
}

TRACED void branch(int calls) {
  for (int i = 0; i < calls; ++i) leaf(i);
  recorder::returned("branch");
}

TRACED int recurse(int depth) {
  int below = 0;
  if (depth > 1) below = recurse(depth - 1);
  recorder::returned("recurse");
  return below + 1;
}

TRACED void tail_target(int x) {
  sink = sink + x;
  recorder::returned("tail_target");
}

TRACED void tail_caller(int x) {
  recorder::returned("tail_caller");
  [[clang::musttail]] return tail_target(x);
}

TRACED void thrower(int depth) {
  recorder::unwound("thrower");
  if (depth == 0) throw std::runtime_error("thrown on purpose");
  thrower(depth - 1);
  sink = sink + 1;
}

TRACED void catcher(int depth) {
  try {
    thrower(depth);
  } catch (const std::runtime_error&) {
    sink = sink + 1;
  }
  recorder::returned("catcher");
}

TRACED void jumper(int depth) {
  recorder::unwound("jumper");
  if (depth == 0) std::longjmp(landing, 1);
  jumper(depth - 1);
  sink = sink + 1;
}

TRACED void setter(int depth) {
  if (setjmp(landing) == 0) jumper(depth);
  recorder::returned("setter");
}

TRACED void worker(int number) {
  for (int i = 0; i <= number; ++i) branch(3 + number);
  recurse(number + 1);
  recorder::returned("worker");
}

TRACED void stays_open() { recorder::stop(); }

UNTRACED void body() {
  branch(100);
  for (int i = 0; i < 5; ++i) recurse(20);
  for (int i = 0; i < 7; ++i) tail_caller(i);
  for (int i = 0; i < 3; ++i) catcher(i);
  for (int i = 0; i < 4; ++i) setter(i);
  std::thread threads[4];
  for (int i = 0; i < 4; ++i) threads[i] = std::thread(worker, i);
  for (std::thread& thread : threads) thread.join();
  if (recorder::state().mode == "xray-fdr") stays_open();
}

// MODE OPTIONS
UNTRACED int main(int argc, char** argv) {
  if (argc < 3) return 2;
  recorder::name("leaf", leaf);
  recorder::name("branch", branch);
  recorder::name("recurse", recurse);
  recorder::name("tail_target", tail_target);
  recorder::name("tail_caller", tail_caller);
  recorder::name("thrower", thrower);
  recorder::name("catcher", catcher);
  recorder::name("jumper", jumper);
  recorder::name("setter", setter);
  recorder::name("worker", worker);
  recorder::name("stays_open", stays_open);

  recorder::start(argv);
  // Basic mode writes a thread's last records when the thread ends, and never the main thread's.
  std::thread(body).join();
  if (recorder::state().mode != "xray-fdr") recorder::stop();
  recorder::report();
}
