#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace telltale {

// Kinds of data that a recording may have. Verbs and reports require capabilities, never a format.
// Recording returns an interface for each.
enum class Capability : uint8_t {
  timed_calls,         // TimedCalls
  runtime_events,      // RuntimeEvents
  counts_at_sites,     // SiteCounts
  paths_in_frames,     // StackPaths
  static_information,  // StaticInformation
};
inline constexpr std::array kAllCapabilities = {
    Capability::timed_calls, Capability::runtime_events, Capability::counts_at_sites,
    Capability::paths_in_frames, Capability::static_information};

// "timed calls"; for messages.
constexpr std::string_view name_of(Capability capability) {
  switch (capability) {
    case Capability::timed_calls:
      return "timed calls";
    case Capability::runtime_events:
      return "runtime events";
    case Capability::counts_at_sites:
      return "counts at sites";
    case Capability::paths_in_frames:
      return "paths in stack frames";
    case Capability::static_information:
      return "static information";
  }
  return "";
}

}  // namespace telltale
