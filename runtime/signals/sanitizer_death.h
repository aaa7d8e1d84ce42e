// A sanitizer that has found an error ends the process with _exit(), without a signal and without
// exit handlers, after it has called one function that it was given.
#pragma once

extern "C" {
// NOLINTBEGIN: symbols of the sanitizers' interfaces
__attribute__((weak)) void __sanitizer_set_death_callback(void (*function)());
__attribute__((weak)) void __tsan_init();
__attribute__((weak)) void AnnotateIgnoreSyncBegin(const char* file, int line);
__attribute__((weak)) void AnnotateIgnoreSyncEnd(const char* file, int line);
// NOLINTEND
}

namespace telltale::signals {

using DeathFunction = void (*)();
constexpr int kMostDeathFunctions = 4;
// Of all runtimes in the program: whoever asks last must not replace the others. They are linked
// into one module, or find each other by this name.
__attribute__((
    visibility("default"))) inline DeathFunction death_functions[kMostDeathFunctions] = {};

// ThreadSanitizer calls this with locks held that it would wait for again when a function of libc
// synchronizes threads, as pthread_once does in backtrace(3).
inline void run_death_functions() {
  const bool ignores = __tsan_init != nullptr && AnnotateIgnoreSyncBegin != nullptr &&
                       AnnotateIgnoreSyncEnd != nullptr;
  if (ignores) AnnotateIgnoreSyncBegin("", 0);
  for (const DeathFunction function : death_functions)
    if (function != nullptr) function();
  if (ignores) AnnotateIgnoreSyncEnd("", 0);
}

// `function` runs before a sanitizer ends the process, in the thread that caused the error; does
// nothing without a sanitizer. Not thread-safe: for constructors. If the program sets its own death
// callback later, as libFuzzer does, the sanitizer no longer calls ours.
inline void at_sanitizer_death(DeathFunction function) {
  if (__sanitizer_set_death_callback == nullptr) return;
  for (DeathFunction& known : death_functions) {
    if (known == function) break;
    if (known != nullptr) continue;
    known = function;
    break;
  }
  __sanitizer_set_death_callback(run_death_functions);
}

}  // namespace telltale::signals
