#pragma once

#include <cstddef>
#include <vector>

#include "analysis/calls/play_calls.h"
#include "analysis/calls/profile.h"
#include "import/timed_calls.h"
#include "model/event_receiver.h"
#include "output/runtime_answers.h"
#include "output/timeline/perfetto_export.h"
#include "output/timeline/text_calls.h"
#include "output/tree/measure_paths.h"

namespace telltale {

// The answers of TimedCalls, compiled once for all kinds of recordings. What depends on the kind is
// how events get from a shard to a sink: one virtual call a shard for the sinks of time-critical
// answers, for which decoder and sink are compiled into one loop; one virtual call an event for
// others.
class CallAnswers : public TimedCalls {
 public:
  // An EventSource: hides that of TimedCalls, which knows no sinks.
  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const {
    if constexpr (requires { play_shard(stream, shard, sink, problems); }) {
      play_shard(stream, shard, sink, problems);
    } else {
      TimedCalls::play(stream, shard, sink, problems);
    }
  }
  // As EventSource says; does nothing for recordings that have no such function.
  virtual void read_ahead(size_t stream, size_t shard) const = 0;

  [[nodiscard]] Profile profile(const ProfileOptions& options, ProblemLog& problems) const override;
  [[nodiscard]] Result<CallTreePartial> call_tree(const CallFilter& filter, size_t workers,
                                                  const CallTreeOptions& options,
                                                  ProblemLog& problems) const override;
  [[nodiscard]] Result<MeasuredTree> measured_tree(Measure measure, const CallFilter& filter,
                                                   size_t workers, size_t max_depth,
                                                   ProblemLog& problems) const override;
  [[nodiscard]] std::vector<Measure> measures_with_data(size_t workers) const override;
  Result<ExportRemarks> export_calls(const ExportOptions& options, ExportFormat format,
                                     OutputFile& out, ProblemLog& problems) const override;

  // Answers include this runtime's events, too. It must outlive this object.
  void set_runtime(const RuntimeAnswers& runtime) { runtime_ = &runtime; }

 protected:
  // One virtual call an event, unless overridden.
  virtual void play_shard(size_t stream, size_t shard, ShardBoundarySink& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, ProfileSink& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, detail::CallPlayer<ProfileSink>& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, detail::CallPlayer<CallTreeSink>& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, detail::CallPlayer<PerfettoSink>& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, detail::CallPlayer<ChromeSink>& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, detail::CallPlayer<RowsSink>& sink,
                          ProblemLog& problems) const;
  virtual void play_shard(size_t stream, size_t shard, MeasuresFound& sink,
                          ProblemLog& problems) const;

 private:
  const RuntimeAnswers* runtime_ = nullptr;
};
static_assert(EventSource<CallAnswers>);

}  // namespace telltale
