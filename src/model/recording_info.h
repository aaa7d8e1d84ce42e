#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "model/clock.h"
#include "model/events.h"

namespace telltale {

// The answer of `info`, for any recording.
struct RecordingInfo {
  std::string format;   // e.g. "xray-fdr"
  std::string version;  // as the file says it, e.g. "5"
  std::vector<std::string> files;
  // Other properties from the header, as text: ("cycle frequency", "2100000000 Hz").
  std::vector<std::pair<std::string, std::string>> properties;
  uint64_t bytes = 0;                                             // of all files, decompressed
  uint64_t records = 0;                                           // all kinds
  std::vector<std::pair<std::string, uint64_t>> records_by_kind;  // only kinds that occur, by name
  uint64_t custom_events = 0;      // of the records: bytes that the program left (InstantEvent)
  bool timed = true;               // false: only counts; no threads, no clock, no times
  std::vector<ThreadKey> threads;  // sorted
  Clock clock;
  Ticks first_time = 0;  // of the earliest event
  Ticks last_time = 0;
  ProblemLog problems;

  [[nodiscard]] uint64_t span_ns() const { return clock.to_ns(last_time - first_time); }
};

}  // namespace telltale
