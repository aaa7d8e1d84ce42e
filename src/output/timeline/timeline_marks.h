#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/runtime/runtime_timeline.h"
#include "model/call_filter.h"
#include "output/export.h"

namespace telltale {

// A runtime's timeline for timeline viewers: tracks of nested slices, instants on threads,
// counters. Times are nanoseconds since the recording's first event.
struct TimelineMarks {
  using Arguments = std::vector<std::pair<std::string_view, std::variant<uint64_t, std::string>>>;
  struct Mark {
    uint64_t ns = 0;
    bool begin = true;  // of a slice; else the end of the innermost open one
    std::string name;
    Arguments arguments = {};
  };
  struct Track {
    std::string name;
    size_t stream = 0;       // whose thread, or whose process it belongs to
    bool of_thread = false;  // else of the process
    std::vector<Mark> marks;
  };
  struct Instant {
    uint64_t ns = 0;
    size_t stream = 0;
    std::string name;
    Arguments arguments = {};
  };
  struct Counter {
    std::string name;
    std::string_view unit;  // "bytes", or nothing
    size_t stream = 0;      // whose process
    std::vector<std::pair<uint64_t, std::variant<int64_t, double>>> values;
  };
  std::vector<Track> tracks;
  std::vector<Instant> instants;
  std::vector<Counter> counters;
};

// Marks that begin within the filter's window, on threads that it selects (collections: on any).
TimelineMarks make_timeline_marks(const RuntimeTimeline& timeline, const CallFilter& filter,
                                  const ExportContext& context);

// The marks as entries of Chrome's trace_event JSON, each preceded by a comma. docs/exports.md,
// "Chrome".
std::string chrome_entries(const TimelineMarks& marks, const ExportContext& context);

}  // namespace telltale
