#pragma once
#include <pthread.h>
#include <cstdint>
#include <string>
inline bool start(const std::string&, bool) { return true; }
inline void events(int count) {
  static volatile int sum;
  for (int i = 0; i < count; ++i) if (i % 2 == 0) sum = sum + i;
}
