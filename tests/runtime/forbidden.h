#pragma once

// Marks parts of a test program in which only async-signal-safe functions may be called.
// forbidden_calls.so, preloaded, ends the process with status 97 and a line on standard error if
// another one is. Without it a mark has no effect.

extern "C" {
// The calling thread's number of open marks; only defined by forbidden_calls.so.
int* telltale_forbidden_depth() __attribute__((weak));
}

namespace forbidden {

// Marks may be nested, also in signal handlers.
class Stretch {
 public:
  Stretch() : depth_(telltale_forbidden_depth != nullptr ? telltale_forbidden_depth() : nullptr) {
    if (depth_ != nullptr) __atomic_fetch_add(depth_, 1, __ATOMIC_SEQ_CST);
  }
  ~Stretch() {
    if (depth_ != nullptr) __atomic_fetch_sub(depth_, 1, __ATOMIC_SEQ_CST);
  }
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;

 private:
  int* const depth_;
};

}  // namespace forbidden
