// MemorySanitizer does not see what the runtimes write: they are built without it. Where the
// program had uninitialized variables on the stack, it would report the runtimes' own variables
// when they reach libc, and end the program.
#pragma once

extern "C" {
// NOLINTBEGIN: symbols of MemorySanitizer's interface
__attribute__((weak)) void __msan_scoped_disable_interceptor_checks();
__attribute__((weak)) void __msan_scoped_enable_interceptor_checks();
// NOLINTEND
}

namespace telltale::signals {

// While it exists, libc's functions do not check what the calling thread gives them. Nothing
// without MemorySanitizer.
class UncheckedMemory {
 public:
  UncheckedMemory() {
    if (__msan_scoped_disable_interceptor_checks != nullptr)
      __msan_scoped_disable_interceptor_checks();
  }
  UncheckedMemory(const UncheckedMemory&) = delete;
  UncheckedMemory& operator=(const UncheckedMemory&) = delete;
  ~UncheckedMemory() {
    if (__msan_scoped_enable_interceptor_checks != nullptr)
      __msan_scoped_enable_interceptor_checks();
  }
};

}  // namespace telltale::signals
