// A sanitizer that has found an error ends the process with _exit(), without a signal and without
// exit handlers, after it has called one function that it was given.
#pragma once

extern "C" {
__attribute__((weak)) void __sanitizer_set_death_callback(void (*function)());  // NOLINT: a symbol
}

namespace telltale::signals {

using DeathFunction = void (*)();
constexpr int kMostDeathFunctions = 4;
// Of all runtimes in the program: whoever asks last must not replace the others. They are linked
// into one module, or find each other by this name.
__attribute__((
    visibility("default"))) inline DeathFunction death_functions[kMostDeathFunctions] = {};

inline void run_death_functions() {
  for (const DeathFunction function : death_functions)
    if (function != nullptr) function();
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
