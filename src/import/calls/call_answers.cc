#include "import/calls/call_answers.h"

#include "output/timeline/export_calls.h"

namespace telltale {

Profile CallAnswers::profile(const ProfileOptions& options, ProblemLog& problems) const {
  return compute_profile(*this, options, problems);
}

Result<CallTreePartial> CallAnswers::call_tree(const CallFilter& filter, size_t workers,
                                               const CallTreeOptions& options,
                                               ProblemLog& problems) const {
  return collect_call_tree(*this, filter, workers, options, problems);
}

Result<MeasuredTree> CallAnswers::measured_tree(Measure measure, const CallFilter& filter,
                                                size_t workers, size_t max_depth,
                                                ProblemLog& problems) const {
  return measure_paths(*this, runtime_, measure, filter, workers, max_depth, problems);
}

std::vector<Measure> CallAnswers::measures_with_data(size_t workers) const {
  return telltale::measures_with_data(*this, workers);
}

Result<ExportRemarks> CallAnswers::export_calls(const ExportOptions& options, ExportFormat format,
                                                OutputFile& out, ProblemLog& problems) const {
  return telltale::export_calls(*this, runtime_, options, format, out, problems);
}

void CallAnswers::play_shard(size_t stream, size_t shard, ShardBoundarySink& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, ProfileSink& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, detail::CallPlayer<ProfileSink>& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, detail::CallPlayer<CallTreeSink>& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, detail::CallPlayer<PerfettoSink>& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, detail::CallPlayer<ChromeSink>& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, detail::CallPlayer<RowsSink>& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}
void CallAnswers::play_shard(size_t stream, size_t shard, MeasuresFound& sink,
                             ProblemLog& problems) const {
  TimedCalls::play(stream, shard, sink, problems);
}

}  // namespace telltale
