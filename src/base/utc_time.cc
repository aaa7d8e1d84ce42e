#include "base/utc_time.h"

#include <fmt/format.h>

#include <ctime>
#include <string_view>

namespace telltale {
namespace {

// <fmt/chrono.h> would compile its formatting of times, 14 KB, in each unit that includes it.
std::string utc_text(int64_t seconds, char between, std::string_view zone) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (!has_date(seconds) || gmtime_r(&time, &parts) == nullptr)
    return fmt::format("{} s after 1970", seconds);
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, between, parts.tm_hour, parts.tm_min,
                     parts.tm_sec, zone);
}

}  // namespace

bool has_date(int64_t seconds) {
  constexpr int64_t kYear0 = -62'167'219'200;
  constexpr int64_t kYear10000 = 253'402'300'800;
  return seconds >= kYear0 && seconds < kYear10000;
}

std::string utc_words(int64_t seconds) { return utc_text(seconds, ' ', " UTC"); }

std::string utc_iso(int64_t seconds) { return utc_text(seconds, 'T', "Z"); }

}  // namespace telltale
