#include "cli/record/recorder_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/xray/recorder_limits.h"

namespace telltale::cli {
namespace {

// The number that begins `text`; advances past it. Nothing: no digits, or too many.
std::optional<uint64_t> take_number(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > xray::kMostSettingDigits) return std::nullopt;
  const std::string_view shown = text.substr(0, digits);
  uint64_t number = 0;
  std::from_chars(shown.data(), shown.data() + shown.size(), number);
  text.remove_prefix(digits);
  return number;
}

bool is_number(std::string_view text, uint64_t least, uint64_t most) {
  const std::optional<uint64_t> number = take_number(text);
  return number && text.empty() && *number >= least && *number <= most;
}

std::optional<uint64_t> read_size(std::string_view text) {
  const std::optional<uint64_t> number = take_number(text);
  if (!number || text.size() > 1) return std::nullopt;
  constexpr std::string_view kUnits = "KMG";
  unsigned shift = 0;
  if (!text.empty()) {
    const size_t unit =
        kUnits.find(text[0] >= 'a' ? static_cast<char>(text[0] - 'a' + 'A') : text[0]);
    if (unit == std::string_view::npos) return std::nullopt;
    shift = 10 * static_cast<unsigned>(unit + 1);
  }
  if (*number > xray::kMostSettingBytes >> shift) return std::nullopt;
  return *number << shift;
}

bool is_size(std::string_view text) { return read_size(text).value_or(0) != 0; }

// The StackTrack recorder takes 0 as none.
bool is_size_or_none(std::string_view text) { return read_size(text).has_value(); }

bool is_buffer(std::string_view text) {
  const uint64_t bytes = read_size(text).value_or(0);
  return bytes >= xray::kLeastBuffer && bytes <= xray::kMostBuffer && bytes % 8 == 0;
}

bool is_time(std::string_view text) {
  const std::optional<uint64_t> number = take_number(text);
  if (!number) return false;
  constexpr uint64_t kHour = xray::kMostSettingSeconds;
  if (text.empty()) return *number == 0;
  if (text == "ns") return *number <= kHour * 1'000'000'000;
  if (text == "us") return *number <= kHour * 1'000'000;
  if (text == "ms") return *number <= kHour * 1000;
  return text == "s" && *number <= kHour;
}

bool is_clock(std::string_view text) {
  constexpr std::string_view kSparse = "sparse:";
  if (text.starts_with(kSparse)) return is_number(text.substr(kSparse.size()), 2, 255);
  return text == "auto" || text == "tsc" || text == "monotonic" || text == "sparse";
}

bool is_switch(std::string_view text) { return text == "on" || text == "off"; }

bool is_thread_share(std::string_view text) {
  return text.starts_with("1/") && is_number(text.substr(2), 1, xray::kMostThreadInterval);
}

bool is_signal(std::string_view text) {
  if (text.starts_with("SIG")) text.remove_prefix(3);
  constexpr std::array<std::string_view, 5> kNames = {"USR1", "USR2", "HUP", "QUIT", "WINCH"};
  return std::ranges::find(kNames, text) != kNames.end() || is_number(text, 1, 64);
}

bool is_auto(std::string_view text) {
  if (is_switch(text)) return true;
  const std::optional<uint64_t> calls = take_number(text);
  if (!calls || *calls == 0 || !text.starts_with('/')) return false;
  std::string_view time = text.substr(1);
  const bool has_time = is_time(time);
  return has_time && take_number(time).value_or(0) != 0;
}

bool is_path(std::string_view text) { return !text.empty() && text.size() <= xray::kMostPathBytes; }
bool is_list(std::string_view text) { return !text.empty() && text.size() <= xray::kMostListBytes; }
bool is_depth(std::string_view text) { return is_number(text, 1, xray::kMostDepth); }

struct Setting {
  std::string_view key;
  bool (*accepts)(std::string_view value);
  std::string_view form;  // of the values, for "this must be ..."
};

constexpr auto kXray = std::to_array<Setting>({
    {"file", is_path, "a path of at most 1023 bytes"},
    {"mode",
     [](std::string_view text) {
       return text == "continuous" || text == "ring" || text == "snapshot";
     },
     "continuous, ring or snapshot"},
    {"size", is_size, "a number of bytes, such as 500K, 64M or 4G, and at most 1024G"},
    {"buffer", is_buffer, "a size from 4K to 16M, a multiple of 8"},
    {"version", [](std::string_view text) { return text == "1" || text == "5"; }, "1 or 5"},
    {"clock", is_clock, "auto, tsc, monotonic, sparse or sparse:N, N from 2 to 255"},
    {"functions", is_list, "a list of patterns of at most 4095 bytes"},
    {"depth", is_depth, "a number from 1 to 65536"},
    {"auto", is_auto, "on, off, or calls a second and their average time, such as 100000/200ns"},
    {"min", is_time, "a whole number with a unit, such as 500ns, 5us or 1ms, and at most an hour"},
    {"threads", is_thread_share, "1/N, N from 1 to 1000000"},
    {"signal", is_signal, "USR1, USR2, HUP, QUIT, WINCH or a number from 1 to 64"},
    {"fork", [](std::string_view text) { return text == "follow" || text == "off"; },
     "follow or off"},
    {"waits", is_switch, "on or off"},
    {"crash", is_switch, "on or off"},
    {"control", is_switch, "on or off"},
});

constexpr auto kStacktrack = std::to_array<Setting>({
    {"dir", is_path, "a path of at most 1023 bytes"},
    {"path", is_path, "a path of at most 1023 bytes"},
    {"size", is_size_or_none, "a number of bytes, such as 500K, 64M or 4G"},
    {"rotate", is_size_or_none, "a number of bytes, such as 500K, 64M or 4G"},
    {"keep", [](std::string_view text) { return is_number(text, 0, UINT32_MAX); }, "a number"},
    {"ring", is_size_or_none, "a number of bytes, such as 500K, 64M or 4G"},
    {"clock", [](std::string_view text) { return is_number(text, 1, 65536); },
     "a number from 1 to 65536"},
    {"layout", [](std::string_view text) { return text == "wide" || text == "classic"; },
     "wide or classic"},
    {"sequence", [](std::string_view text) { return text == "clock" || text == "count"; },
     "clock or count"},
    {"fork", [](std::string_view text) { return text == "yes" || text == "no"; }, "yes or no"},
});

}  // namespace

uint64_t size_in_bytes(std::string_view value) { return read_size(value).value_or(0); }

Result<void> check_setting(RecorderKind recorder, std::string_view key, std::string_view value,
                           std::string_view origin) {
  const std::span<const Setting> settings =
      recorder == RecorderKind::xray ? std::span<const Setting>(kXray) : kStacktrack;
  const auto known = std::ranges::find(settings, key, &Setting::key);
  if (known == settings.end()) {
    std::string names;
    for (const Setting& setting : settings)
      names += (names.empty() ? "" : ", ") + std::string(setting.key);
    return usage_error(
        fmt::format("{}: the recorder has no setting {}; it has {}", origin, key, names));
  }
  if (value.contains(','))
    return usage_error(fmt::format("{}: a setting of the recorder cannot hold a comma", origin));
  if (!known->accepts(value))
    return usage_error(fmt::format("{}: this must be {}", origin, known->form));
  return {};
}

}  // namespace telltale::cli
