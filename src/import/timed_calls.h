#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/profile.h"
#include "base/error.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_receiver.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "output/export_format.h"
#include "output/export_options.h"
#include "output/output_file.h"
#include "output/tree/measured_tree.h"

namespace telltale {

// Capability: calls with times, by thread. An answer is one virtual call; its implementation fuses
// decoder, analysis and sink into one loop compiled for the format (TimedCallsOf). Answers add
// damage to `problems`, use `workers` threads (0: all cores) and do not depend on their number.
// Safe to use from several threads.
//
// It is also an EventSource whose play() costs one virtual call per event, for answers that are not
// time-critical. Time-critical answers are members here.
class TimedCalls {
 public:
  TimedCalls() = default;
  TimedCalls(const TimedCalls&) = delete;
  TimedCalls& operator=(const TimedCalls&) = delete;
  virtual ~TimedCalls() = default;

  // As EventSource says.
  [[nodiscard]] virtual const Clock& clock() const = 0;
  [[nodiscard]] virtual Ticks first_time() const = 0;
  [[nodiscard]] virtual std::span<const EventStream> streams() const = 0;
  [[nodiscard]] virtual const FunctionNames& functions() const = 0;
  [[nodiscard]] virtual uint64_t shard_bytes(size_t stream, size_t shard) const = 0;
  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const {
    ReceiverOf<Sink> receiver(sink);
    play_to(stream, shard, receiver, problems);
  }

  // compute_profile (analysis/calls/profile.h).
  [[nodiscard]] virtual Profile profile(const ProfileOptions& options,
                                        ProblemLog& problems) const = 0;
  // collect_call_tree (analysis/calls/call_tree.h), with its errors.
  [[nodiscard]] virtual Result<CallTreePartial> call_tree(const CallFilter& filter, size_t workers,
                                                          const CallTreeOptions& options,
                                                          ProblemLog& problems) const = 0;
  // measure_paths (output/tree/measure_paths.h), with its errors.
  [[nodiscard]] virtual Result<MeasuredTree> measured_tree(Measure measure,
                                                           const CallFilter& filter, size_t workers,
                                                           size_t max_depth,
                                                           ProblemLog& problems) const = 0;
  // measures_with_data (output/tree/measure_paths.h).
  [[nodiscard]] virtual std::vector<Measure> measures_with_data(size_t workers) const = 0;
  // export_calls (output/timeline/export_calls.h), with its errors.
  virtual Result<ExportRemarks> export_calls(const ExportOptions& options, ExportFormat format,
                                             OutputFile& out, ProblemLog& problems) const = 0;

 private:
  virtual void play_to(size_t stream, size_t shard, EventReceiver& sink,
                       ProblemLog& problems) const = 0;
};
static_assert(EventSource<TimedCalls>);

}  // namespace telltale
