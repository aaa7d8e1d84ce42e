#include "formats/mono/event_variant.h"

#include <array>
#include <string_view>

namespace telltale::mono {
namespace {

std::string traced(std::string_view what, bool has_backtrace) {
  std::string text(what);
  if (has_backtrace) text += text.empty() ? "with a backtrace" : ", with a backtrace";
  return text;
}

// For versions whose first byte contains the action.
std::string monitor_action(uint8_t info) {
  constexpr auto kActions =
      std::to_array<std::string_view>({"", "contention", "acquired", "failed"});
  return traced(kActions[info >> 4 & 3], (info & info::kMonitorBacktrace) != 0);
}

std::string handle_change(uint8_t info) {
  const bool created = info == info::kGcHandleCreated || info == info::kGcHandleCreatedBacktrace;
  return traced(created ? "created" : "destroyed", info >= info::kGcHandleCreatedBacktrace);
}

std::string metadata_action(uint8_t info) {
  constexpr auto kActions = std::to_array<std::string_view>(
      {"name", "start of loading", "loaded", "start of unloading", "unloaded"});
  std::string text(kActions[(info & 0x70) >> 4]);
  if ((info & info::kMetadataLoadError) != 0) text += ", failed";
  return text;
}

}  // namespace

std::string event_variant(uint8_t first_byte, const Layout& layout) {
  const uint8_t kind = layout.events.kind[first_byte];
  if (kind == EventTable::kNone) return {};
  const uint8_t info = first_byte & 0xF0;
  switch (static_cast<EventKind>(kind)) {
    case EventKind::alloc:
      return traced({}, (info & info::kAllocBacktrace) != 0);
    case EventKind::gc_handle:
      return handle_change(info);
    case EventKind::gc_finalize: {
      constexpr auto kPhases = std::to_array<std::string_view>(
          {"start", "end", "start of an object", "end of an object"});
      return std::string(kPhases[(info - info::kGcFinalizeStart) >> 4]);
    }
    case EventKind::metadata:
      return metadata_action(info);
    case EventKind::call: {
      constexpr auto kActions =
          std::to_array<std::string_view>({"", "leave", "enter", "leave by an exception"});
      return std::string(kActions[info >> 4]);
    }
    case EventKind::exception_throw:
      return traced({}, (info & info::kExceptionBacktrace) != 0);
    case EventKind::monitor:
      if (layout.monitor_action_is_byte) return traced({}, (info & info::kMonitorBacktrace) != 0);
      return monitor_action(info);
    case EventKind::heap_shot:
      return info == info::kHeapStart ? "begin" : "end";
    case EventKind::heap_root_area:
      return info == info::kHeapRootRegister ? "registered" : "gone";
    default:
      return {};
  }
}

}  // namespace telltale::mono
