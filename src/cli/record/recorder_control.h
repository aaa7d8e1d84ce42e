#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale::cli {

// What a recorder says about its recording; docs/formats/xray-recorder.md, "The control socket".
struct RecorderStatus {
  std::string state;     // recording, stopped or waiting
  std::string mode;      // continuous, ring or snapshot
  std::string file;      // absolute path; empty: none yet, or in memory
  std::string snapshot;  // the file that this request wrote; empty: none
  uint64_t part = 0;     // of the process's recordings, from 1; 0: none has begun
  uint64_t bytes = 0;    // recorded so far
  uint64_t lost = 0;     // events
  uint64_t overwritten = 0;
  std::string functions;  // list of patterns; empty: all functions
  uint64_t min_ns = 0;
  uint64_t depth = 0;  // 0: no limit
};

// Sends a request ("status", "stop", "start", "snapshot", "filter SETTINGS") to the XRay recorder
// in the process `pid`, and returns what it answers; waits up to 30 s.
// Errors: io, with the reason in one sentence: there is no such process, it is another user's, has
// no recorder or one without the option `control`, does not answer or answers by another version of
// the protocol, or the recorder refuses.
Result<RecorderStatus> ask_recorder(int64_t pid, std::string_view request);

}  // namespace telltale::cli
