#include "options.h"

#include <signal.h>

#include "formats/xray/recorder_limits.h"

namespace telltale::recorder {
namespace {

constexpr uint64_t kDefaultFileBytes = uint64_t{4} << 30;
constexpr uint64_t kDefaultRingBytes = uint64_t{64} << 20;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr const char* kDefaultAuto = "100000/200ns";

// Reads digits at `text` and advances past them; 0 for none or too many.
uint64_t read_number(const char*& text) {
  uint64_t number = 0;
  size_t digits = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (++digits > xray::kMostSettingDigits) return 0;
    number = number * 10 + static_cast<uint64_t>(*text - '0');
  }
  return number;
}

bool read_size(const char* text, uint64_t& bytes) {
  bytes = read_number(text);
  const char unit = *text;
  if (unit == 'K' || unit == 'k') bytes <<= 10;
  if (unit == 'M' || unit == 'm') bytes <<= 20;
  if (unit == 'G' || unit == 'g') bytes <<= 30;
  const bool unit_known = unit == '\0' || unit == 'K' || unit == 'k' || unit == 'M' ||
                          unit == 'm' || unit == 'G' || unit == 'g';
  return unit_known && (unit == '\0' || text[1] == '\0') && bytes <= xray::kMostSettingBytes;
}

bool read_time(const char* text, uint64_t& ns) {
  ns = read_number(text);
  if (same_text(text, "ns") || (same_text(text, "") && ns == 0)) return true;
  if (same_text(text, "us")) {
    ns *= 1000;
  } else if (same_text(text, "ms")) {
    ns *= 1'000'000;
  } else if (same_text(text, "s")) {
    ns *= kSecond;
  } else {
    return false;
  }
  return ns <= xray::kMostSettingSeconds * kSecond;
}

bool read_signal(const char* text, int& signal) {
  constexpr struct {
    const char* name;
    int number;
  } kSignals[] = {{"USR1", SIGUSR1},
                  {"USR2", SIGUSR2},
                  {"HUP", SIGHUP},
                  {"QUIT", SIGQUIT},
                  {"WINCH", SIGWINCH}};
  if (text[0] == 'S' && text[1] == 'I' && text[2] == 'G') text += 3;
  for (const auto& known : kSignals) {
    if (same_text(text, known.name)) {
      signal = known.number;
      return true;
    }
  }
  const auto number = static_cast<int>(read_number(text));
  if (*text != '\0' || number <= 0 || number >= 65) return false;
  signal = number;
  return true;
}

bool read_clock(const char* text, Options& options) {
  if (same_text(text, "auto")) {
    options.clock = ClockKind::automatic;
  } else if (same_text(text, "tsc")) {
    options.clock = ClockKind::tsc;
  } else if (same_text(text, "monotonic")) {
    options.clock = ClockKind::monotonic;
  } else {
    for (const char* want = "sparse"; *want != '\0'; ++want) {
      if (*text++ != *want) return false;
    }
    options.clock = ClockKind::sparse;
    if (*text == '\0') return true;
    if (*text++ != ':') return false;
    const uint64_t interval = read_number(text);
    if (*text != '\0' || interval < 2 || interval > 255) return false;
    options.sparse_interval = static_cast<uint8_t>(interval);
  }
  return true;
}

template <size_t kSize>
bool keep_text(const char* text, char (&place)[kSize]) {
  const size_t length = text_length(text);
  if (length == 0 || length >= kSize) return false;
  copy_bytes(place, text, length + 1);
  return true;
}

bool read_mode(const char* text, Mode& mode) {
  const bool known =
      same_text(text, "continuous") || same_text(text, "ring") || same_text(text, "snapshot");
  mode = text[0] == 'r' ? Mode::ring : text[0] == 's' ? Mode::snapshot : Mode::continuous;
  return known;
}

// Calls a second, and their average time.
bool read_auto(const char* text, Options& options) {
  options.auto_calls = options.auto_ns = 0;
  if (same_text(text, "off")) return true;
  if (same_text(text, "on")) text = kDefaultAuto;
  options.auto_calls = read_number(text);
  if (options.auto_calls == 0 || *text != '/') return false;
  ++text;
  return read_time(text, options.auto_ns) && options.auto_ns != 0;
}

bool set_option(const char* key, const char* value, Options& options) {
  const char* rest = value;
  if (same_text(key, "file")) return keep_text(value, options.file);
  if (same_text(key, "functions")) return keep_text(value, options.functions);
  if (same_text(key, "mode")) return read_mode(value, options.mode);
  if (same_text(key, "size")) return read_size(value, options.size) && options.size != 0;
  if (same_text(key, "buffer")) {
    return read_size(value, options.cell_bytes) && options.cell_bytes >= xray::kLeastBuffer &&
           options.cell_bytes <= xray::kMostBuffer && options.cell_bytes % 8 == 0;
  }
  if (same_text(key, "version")) {
    options.version = value[0] == '1' ? 1 : 5;
    return same_text(value, "1") || same_text(value, "5");
  }
  if (same_text(key, "clock")) return read_clock(value, options);
  if (same_text(key, "depth")) {
    const uint64_t depth = read_number(rest);
    options.depth = static_cast<uint32_t>(least(depth, UINT32_MAX));
    return *rest == '\0' && depth != 0 && depth <= kMostDepthLimit;
  }
  if (same_text(key, "auto")) return read_auto(value, options);
  if (same_text(key, "min")) return read_time(value, options.min_ns);
  if (same_text(key, "threads")) {
    if (read_number(rest) != 1 || *rest != '/') return false;
    ++rest;
    const uint64_t every = read_number(rest);
    options.thread_every = static_cast<uint32_t>(every);
    return *rest == '\0' && every >= 1 && every <= xray::kMostThreadInterval;
  }
  if (same_text(key, "signal")) return read_signal(value, options.signal);
  if (same_text(key, "fork")) {
    options.follow_forks = same_text(value, "follow");
    return options.follow_forks || same_text(value, "off");
  }
  if (same_text(key, "crash")) {
    options.crash = same_text(value, "on");
    return options.crash || same_text(value, "off");
  }
  if (same_text(key, "control")) {
    options.control = same_text(value, "on");
    return options.control || same_text(value, "off");
  }
  if (same_text(key, "waits")) {
    options.waits = same_text(value, "on");
    return options.waits || same_text(value, "off");
  }
  return false;
}

// Reads `key=value`, separated by commas, of the keys that `allows` returns true for.
template <typename Allows>
bool set_options(const char* text, Options& options, Text<256>& complaint, Allows allows) {
  while (*text != '\0') {
    Text<64> key;
    // Too large for a small thread's stack.
    using Value = Text<xray::kMostListBytes + 1>;
    static Value value{Value::Zeros{}};
    value.clear();
    const char* const begin = text;
    while (*text != '\0' && *text != ',' && *text != '=') key.add(*text++);
    if (*text == '=') {
      for (++text; *text != '\0' && *text != ','; ++text) value.add(*text);
    }
    if (value.full() || !allows(key.c_str()) || !set_option(key.c_str(), value.c_str(), options)) {
      complaint.add("not an option: ");
      for (const char* at = begin; at != text; ++at) complaint.add(*at);
      return false;
    }
    if (*text == ',') ++text;
  }
  return true;
}

// Each thread that records keeps a cell. If a ring has hardly more cells than threads, newer events
// find none, instead of replacing the oldest.
uint64_t default_cell(const Options& options) {
  constexpr uint64_t kUsual = uint64_t{64} << 10;
  constexpr uint64_t kCells = 64;
  uint64_t bytes = kUsual;
  while (options.mode != Mode::continuous && bytes > xray::kLeastBuffer &&
         options.size / bytes < kCells)
    bytes /= 2;
  return bytes;
}

}  // namespace

bool parse_options(const char* text, Options& options, Text<256>& complaint) {
  options = Options();
  if (text == nullptr || same_text(text, "on") || same_text(text, "1")) text = "";
  if (!set_options(text, options, complaint, [](const char*) { return true; })) return false;
  if (options.size == 0)
    options.size = options.mode == Mode::continuous ? kDefaultFileBytes : kDefaultRingBytes;
  if (options.cell_bytes == 0) options.cell_bytes = default_cell(options);
  if (options.size < options.cell_bytes + xray::kFileHeaderBytes)
    options.size = options.cell_bytes + xray::kFileHeaderBytes;
  if (options.mode == Mode::snapshot && options.signal == 0) options.signal = SIGUSR2;
  return true;
}

bool parse_filters(const char* text, Options& options, Text<256>& complaint) {
  options.functions[0] = '\0';
  options.depth = 0;
  options.min_ns = 0;
  return set_options(text, options, complaint, [](const char* key) {
    return same_text(key, "functions") || same_text(key, "depth") || same_text(key, "min");
  });
}

}  // namespace telltale::recorder
