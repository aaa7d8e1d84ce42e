#include "telltale/recording.h"

#include <algorithm>
#include <functional>

#include "base/sort_rows.h"
#include "import/format_descriptor.h"
#include "import/open_recording.h"
#include "import/timed_calls.h"

namespace telltale::api {
namespace {

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Skipped skipped(const ProblemLog& log) {
  Skipped skipped;
  for (const telltale::Problem& problem : log.kept()) {
    skipped.problems.push_back(
        {problem.file, problem.offset, problem.record, problem.message, problem.lost_bytes});
  }
  skipped.problem_count = log.count();
  skipped.lost_bytes = log.lost_bytes();
  skipped.damaged = log.damaged();
  return skipped;
}

}  // namespace

struct Recording::Impl {
  std::unique_ptr<const telltale::Recording> recording;
  const TimedCalls* calls = nullptr;  // of the recording
};

Recording::Recording(const OpenOptions& options) {
  telltale::OpenOptions open;
  open.files = options.files;
  open.programs = options.programs;
  auto recording = value_or_throw(open_recording(open));
  const TimedCalls* calls = recording->timed_calls();
  if (calls == nullptr) {
    throw Error(std::string(recording->noun()) + " has " + recording->describe_capabilities() +
                ", no timed calls");
  }
  impl_ = std::make_unique<Impl>(Impl{std::move(recording), calls});
}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

Info Recording::info(size_t jobs) const {
  const RecordingInfo found = impl_->recording->info(jobs);
  Info info;
  info.format = found.format;
  info.version = found.version;
  info.records = found.records;
  info.records_by_kind = found.records_by_kind;
  for (const ThreadKey& thread : found.threads) info.threads.push_back({thread.pid, thread.tid});
  info.span_ns = found.span_ns();
  info.skipped = skipped(found.problems);
  return info;
}

Top Recording::top(size_t jobs, bool exact) const {
  const TimedCalls& calls = *impl_->calls;
  ProblemLog problems = impl_->recording->problems();
  Profile profile = calls.profile({{}, jobs, exact}, problems);
  sort_rows(profile.functions, std::greater(), &FunctionProfile::self);
  const Clock& clock = calls.clock();
  Top top;
  top.rows.reserve(profile.functions.size());
  for (const FunctionProfile& p : profile.functions) {
    const FunctionInfo& function = calls.functions().describe(p.function);
    top.rows.push_back({function.name, to_number(p.function), p.calls, clock.to_ns(p.total),
                        clock.to_ns(p.self), clock.to_ns(p.min), clock.to_ns(p.median),
                        clock.to_ns(p.p90), clock.to_ns(p.p99), clock.to_ns(p.max),
                        clock.to_ns(p.sum), p.unwound, p.unfinished, p.orphan_exits, function.file,
                        function.line});
  }
  top.skipped = skipped(problems);
  return top;
}

Skipped Recording::export_calls(const std::string& format, const std::string& path,
                                size_t jobs) const {
  const std::optional<ExportFormat> known = export_format_of_name(format);
  if (!known || !is_made_from_calls(*known)) throw Error("unknown export of calls: " + format);
  OutputFile out = value_or_throw(OutputFile::open(path));
  ProblemLog problems = impl_->recording->problems();
  const ExportRemarks remarks = value_or_throw(
      impl_->calls->export_calls({.filter = {}, .jobs = jobs}, *known, out, problems));
  value_or_throw(out.finish());
  Skipped what = skipped(problems);
  what.flattened = remarks.flattened;
  return what;
}

const char* version() { return TELLTALE_VERSION; }

}  // namespace telltale::api
