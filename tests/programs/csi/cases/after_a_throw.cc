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

// The call that throws never returns; the other way to the handler was not taken.
__attribute__((noinline)) void choose(int value) {
  try {
    if (value > 5) {
      throw std::runtime_error("far too large");  // not
    }
    check(value);        // ran
    std::puts("never");  // not
  } catch (const std::exception&) {
    std::puts("chosen");  // ran
  }
}

int main(int argc, char**) {
  choose(argc + 1);  // ran
  check(argc);  // ran
  try {
    pass_on(argc + 1);           // ran
    std::puts("not here");       // not
  } catch (const std::exception&) {
    std::puts("caught");         // ran
  }
  std::abort();                  // ran
}
