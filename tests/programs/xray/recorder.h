#pragma once

// Shared by the recorded programs: starts and ends a recording in the mode of the command line, and
// counts calls, so that each program prints what its trace must contain. Never instrumented; for
// programs of a single translation unit.

#include <sys/syscall.h>
#include <unistd.h>
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#define TRACED [[clang::xray_always_instrument, clang::noinline]]
#define UNTRACED [[clang::xray_never_instrument]]

namespace recorder {

struct Tally {
  uint64_t returned = 0;  // left by a return or a tail call
  uint64_t unwound = 0;   // left by an exception or longjmp
};

struct State {
  std::string mode;
  std::mutex mutex;
  std::map<std::pair<int, std::string>, Tally> tallies;  // by thread and function
  std::map<std::string, void (*)()> functions;
  std::vector<std::string> notes;  // JSON members
};
inline State& state() {
  static State the;
  return the;
}

UNTRACED inline void fail(const char* what) {
  std::fprintf(stderr, "recorder: %s failed\n", what);
  std::exit(1);
}

// argv[1] is the mode (xray-fdr or xray-basic), argv[2] its options.
UNTRACED inline void start(char** argv) {
  state().mode = argv[1];
  if (__xray_log_select_mode(argv[1]) != XRAY_REGISTRATION_OK) fail("select mode");
  if (__xray_log_init_mode(argv[1], argv[2]) != XRAY_LOG_INITIALIZED) fail("init mode");
  if (__xray_patch() != SUCCESS) fail("patch");
}

UNTRACED inline void stop() {
  if (__xray_log_finalize() != XRAY_LOG_FINALIZED) fail("finalize");
  if (__xray_log_flushLog() != XRAY_LOG_FLUSHED) fail("flush");
}

UNTRACED inline Tally& tally(const char* function) {
  const std::lock_guard lock(state().mutex);
  return state().tallies[{static_cast<int>(syscall(SYS_gettid)), function}];
}
UNTRACED inline void returned(const char* function, uint64_t times = 1) {
  tally(function).returned += times;
}
UNTRACED inline void unwound(const char* function) { ++tally(function).unwound; }

template <typename Function>
UNTRACED void name(const char* function, Function* address) {
  state().functions[function] = reinterpret_cast<void (*)()>(address);
}
// A JSON member of the report: "\"key\": value".
UNTRACED inline void note(std::string member) {
  const std::lock_guard lock(state().mutex);
  state().notes.push_back(std::move(member));
}

UNTRACED inline int id_of(void (*address)()) {
  for (size_t id = 1; id <= __xray_max_function_id(); ++id) {
    if (__xray_function_address(static_cast<int>(id)) == reinterpret_cast<uintptr_t>(address)) {
      return static_cast<int>(id);
    }
  }
  return 0;
}

// Says on standard output what was called, as JSON.
UNTRACED inline void report() {
  std::printf("{\"pid\": %d, \"ids\": {", getpid());
  const char* separator = "";
  for (const auto& [function, address] : state().functions) {
    std::printf("%s\"%s\": %d", separator, function.c_str(), id_of(address));
    separator = ", ";
  }
  std::printf("}, \"calls\": [");
  separator = "";
  for (const auto& [key, tally] : state().tallies) {
    std::printf("%s{\"tid\": %d, \"function\": \"%s\", \"returned\": %llu, \"unwound\": %llu}",
                separator, key.first, key.second.c_str(),
                static_cast<unsigned long long>(tally.returned),
                static_cast<unsigned long long>(tally.unwound));
    separator = ", ";
  }
  std::printf("]");
  for (const std::string& member : state().notes) std::printf(", %s", member.c_str());
  std::printf("}\n");
}

}  // namespace recorder
