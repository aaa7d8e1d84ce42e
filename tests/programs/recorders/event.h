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
QUIET std::string recording() { return telltale::st::sink_control::path(0); }
QUIET uint64_t lost_events() { return telltale::st::sink_control::statistics().no_space; }
#else
#include <telltale/xray_recorder.h>
#pragma weak telltale_xray_start
#pragma weak telltale_xray_snapshot
#pragma weak telltale_xray_file
#pragma weak telltale_xray_get_losses
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
QUIET std::string recording() { return telltale_xray_file(); }
QUIET uint64_t lost_events() {
  telltale_xray_losses losses{};
  telltale_xray_get_losses(&losses);
  return losses.no_space;
}
QUIET void flush(const std::string& path) {
  if (telltale_xray_snapshot != nullptr) telltale_xray_snapshot(path.c_str());
}
#endif

QUIET void events(int times) {
  for (int i = 0; i < times; ++i) event();
}
