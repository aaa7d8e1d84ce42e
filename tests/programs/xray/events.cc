// Arguments, custom events and, with -DTYPED, typed events, between calls. Prints what it left.

#include <string_view>
#include <thread>

#include "recorder.h"

namespace {

volatile uint64_t sink;

UNTRACED std::string hex(std::string_view bytes) {
  std::string text;
  char two[3];
  for (const char byte : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
    text += two;
  }
  return text;
}

}  // namespace

TRACED [[clang::xray_log_args(1)]] void takes_argument(uint64_t value) {
  sink = sink + value;
  recorder::returned("takes_argument");
}

TRACED void leaves_custom(const char* bytes, size_t size) {
  __xray_customevent(const_cast<char*>(bytes), size);
  recorder::returned("leaves_custom");
}

#ifdef TYPED
// Its parameters are exactly the event's, in order: on x86-64 the sled then moves no register, and
// the stack stays aligned (it crashes otherwise).
TRACED void leaves_typed(size_t type, const char* bytes, size_t size) {
  __xray_typedevent(type, bytes, size);
  recorder::returned("leaves_typed");
}
#endif

TRACED void all_of_it(int rounds) {
  std::string arguments;
  std::string custom;
  std::string typed;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t value = 0x0102030405060708U * static_cast<uint64_t>(i + 1);
    takes_argument(value);
    arguments += (i == 0 ? "" : ", ") + std::to_string(value);
    const std::string payload = "custom \x01\x1b[31m \"" + std::string(static_cast<size_t>(i), 'x');
    leaves_custom(payload.data(), payload.size());
    custom += (i == 0 ? "\"" : ", \"") + hex(payload) + "\"";
#ifdef TYPED
    const std::string body = "typed-" + std::to_string(i);
    leaves_typed(static_cast<size_t>(i + 1), body.data(), body.size());
    typed += (i == 0 ? "[" : ", [") + std::to_string(i + 1) + ", \"" + hex(body) + "\"]";
#endif
  }
  recorder::note("\"arguments\": [" + arguments + "]");
  recorder::note("\"custom\": [" + custom + "]");
  recorder::note("\"typed\": [" + typed + "]");
  recorder::returned("all_of_it");
}

// MODE OPTIONS ROUNDS
UNTRACED int main(int argc, char** argv) {
  if (argc < 4) return 2;
  recorder::name("takes_argument", takes_argument);
  recorder::name("leaves_custom", leaves_custom);
#ifdef TYPED
  recorder::name("leaves_typed", leaves_typed);
#endif
  recorder::name("all_of_it", all_of_it);
  recorder::start(argv);
  std::thread(all_of_it, std::atoi(argv[3])).join();
  recorder::stop();
  recorder::report();
}
