#pragma once

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdint>
#include <ctime>
#include <string>

namespace telltale {

// Times in seconds since 1970, from files: any number. Those outside the years 0 to 9999 are
// printed as seconds, because no calendar function is required to take them.
inline bool has_date(int64_t seconds) {
  constexpr int64_t kYear0 = -62'167'219'200;
  constexpr int64_t kYear10000 = 253'402'300'800;
  return seconds >= kYear0 && seconds < kYear10000;
}

// "2026-11-25 23:13:52 UTC", for people.
inline std::string utc_words(int64_t seconds) {
  if (!has_date(seconds)) return fmt::format("{} s after 1970", seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// "2026-11-25T23:13:52Z", as ISO 8601 has it.
inline std::string utc_iso(int64_t seconds) {
  if (!has_date(seconds)) return fmt::format("{} s after 1970", seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace telltale
