#pragma once

// One event of whichever recorder the program is built for: a StackTrack checkpoint (-DSTACKTRACK),
// or a call of an instrumented function. Opened by the environment, or by start().

#include <cstdint>
#include <string>

// Only what a call is about is instrumented, so that calls can be counted.
#define QUIET __attribute__((no_instrument_function)) inline

#if defined(STACKTRACK)
#include <telltale/stacktrack.hpp>
inline void event() { TELLTALE_STEP("event"); }
// `memory`: a ring in memory, written to `path` on a crash; else a file.
QUIET bool start(const std::string& path, bool memory) {
  namespace st = telltale::st;
  if (memory) {
    st::RingOptions options;
    options.bytes = 1U << 18;
    options.dump_on_crash = path.c_str();
    return st::sink_control::open(options) >= 0;
  }
  st::FileOptions options;
  options.path = path.c_str();
  return st::sink_control::open(options) >= 0;
}
QUIET void flush(const std::string&) { telltale::st::sink_control::flush(); }
#else
extern "C" int telltale_xray_start(const char* options) __attribute__((weak));
extern "C" int64_t telltale_xray_snapshot(const char* path) __attribute__((weak));
#if defined(__clang__)
[[clang::xray_always_instrument]]
#endif
__attribute__((noinline)) inline void event() {
  asm volatile("");
}
QUIET bool start(const std::string& path, bool memory) {
  const std::string options =
      "buffer=4K,file=" + path + (memory ? ",mode=snapshot,size=256K" : ",size=64M");
  return telltale_xray_start != nullptr && telltale_xray_start(options.c_str()) == 0;
}
QUIET void flush(const std::string& path) {
  if (telltale_xray_snapshot != nullptr) telltale_xray_snapshot(path.c_str());
}
#endif

QUIET void events(int times) {
  for (int i = 0; i < times; ++i) event();
}
