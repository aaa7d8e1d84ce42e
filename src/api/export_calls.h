#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/measured_tree.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/open_recording.h"
#include "model/call_filter.h"
#include "output/export_format.h"
#include "output/output_file.h"

namespace telltale {

struct ExportOptions {
  CallFilter filter;
  size_t jobs = 0;                  // 0: one per core
  Measure measure = Measure::time;  // of exports by path
  bool compress = false;            // perfetto: compress packets inside the trace
};

struct ExportRemarks {
  uint64_t flattened = 0;  // calls that were too deep for their nesting to be kept
  bool nothing = false;    // a tree without paths
  std::vector<HeapShotLeftOut> left_out = {};  // later than the heap shot that is measured
  std::string
      estimated;  // what the format has no place for: that times are estimated, and how many
};

// Writes a recording's calls to `out`, which the caller finishes. Adds what could not be read to
// `problems`. Errors: usage for a format that is no export of calls (is_recording_format); io.
Result<ExportRemarks> export_calls(const AnyRecording& recording, const ExportOptions& options,
                                   ExportFormat format, OutputFile& out, ProblemLog& problems);

}  // namespace telltale
