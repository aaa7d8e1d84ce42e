// Straight code that exceptions leave. Comments say what ran: "ran" or "not".
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

__attribute__((noinline)) void check(int value) {
  std::puts("check");                                   // ran
  if (value > 1) throw std::runtime_error("too large");  // ran
}

__attribute__((noinline)) void pass_on(int value) {
  check(value);        // ran
  std::puts("never");  // not
}

int main(int argc, char**) {
  check(argc);  // ran
  try {
    pass_on(argc + 1);           // ran
    std::puts("not here");       // not
  } catch (const std::exception&) {
    std::puts("caught");         // ran
  }
  std::abort();                  // ran
}
