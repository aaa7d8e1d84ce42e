#pragma once

#include <cstdint>
#include <string>

namespace telltale {

// Times in seconds since 1970, from files: any number. Those outside the years 0 to 9999 are
// printed as seconds, because no calendar function is required to take them.
bool has_date(int64_t seconds);

// "2026-11-25 23:13:52 UTC", for people.
std::string utc_words(int64_t seconds);

// "2026-11-25T23:13:52Z", as ISO 8601 has it.
std::string utc_iso(int64_t seconds);

}  // namespace telltale
