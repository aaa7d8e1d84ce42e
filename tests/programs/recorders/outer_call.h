#pragma once

// A call that lasts as long as what it does, recorded like event().

#include <functional>

#if defined(__clang__)
[[clang::xray_always_instrument]]
#endif
__attribute__((noinline)) inline void outer(const std::function<void()>& work) {
  work();
  asm volatile("");
}
