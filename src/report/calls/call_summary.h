#pragma once

#include <cstddef>
#include <memory>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/profile.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/recording.h"
#include "import/timed_calls.h"
#include "model/call_filter.h"
#include "model/name_style.h"
#include "model/recording_info.h"
#include "report/report.h"

namespace telltale {

struct CallSummaryOptions {
  size_t rows = 10;         // of each table
  size_t most_frames = 12;  // of a deeper stack the innermost so many are shown
  size_t workers = 0;       // threads; 0: all cores
  NameStyle names = NameStyle::short_names;
  bool for_people = false;  // without columns of names that no thread has
};

// What the summary of timed calls is made from.
class CallReadings {
 public:
  // `recording` has timed calls and outlives this. Adds what could not be read to `problems`.
  // Errors: as TimedCalls::call_tree().
  static Result<CallReadings> read(const Recording& recording, const CallFilter& filter,
                                   const CallSummaryOptions& options, ProblemLog& problems);

  CallSummaryOptions options;
  const TimedCalls* source = nullptr;
  std::shared_ptr<const StyledNames> names;
  RecordingInfo info;
  Profile profile;
  CallTree by_thread;
  CallTree together;
  Ticks busy = 0;  // in outermost calls
};

namespace reports {

extern const Report kCallSummary;

}  // namespace reports

// The summary for people: what the recording is, what is odd about it, tables.
void write_call_summary_text(const CallReadings& readings, const Section& summary,
                             BlockWriter& out);

}  // namespace telltale
