#pragma once

// Marks stretches of a test program in which nothing may be called that is not async-signal-safe.
// forbidden_calls.so, preloaded, ends the process with status 97 and a line on standard error when
// something is. Without it a mark costs nothing and means nothing.

extern "C" {
// The calling thread's number of open marks; defined by forbidden_calls.so only.
int* telltale_forbidden_depth() __attribute__((weak));
}

namespace forbidden {

// Marks may be nested, in signal handlers too.
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
