#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "import/event_recording.h"
#include "import/recording.h"

namespace telltale {

// A recording with timed calls whose times are computed from those of another one, which answers
// everything else. A problem of the kind `estimate` says what was computed.
template <EventSource Calls>
class EstimatedRecording final : public Recording {
 public:
  // Constructs Calls(timed calls of `recorded`, arguments...). `describe` returns the problem's
  // message. REQUIRES: `recorded` has timed calls.
  template <typename... Arguments>
  EstimatedRecording(std::unique_ptr<const Recording> recorded,
                     const std::function<std::string(const Calls&)>& describe,
                     const Arguments&... arguments)
      : Recording(recorded->format()),
        recorded_(std::move(recorded)),
        calls_(*recorded_->timed_calls(), arguments...),
        answers_(calls_),
        problems_(recorded_->problems()),
        note_{Problem::Kind::estimate, 0, "", "", describe(calls_), 0} {
    problems_.add(note_);
  }

  [[nodiscard]] const Calls& calls() const { return calls_; }
  // The original recording; this one cannot be used afterwards.
  [[nodiscard]] std::unique_ptr<const Recording> take_recorded() { return std::move(recorded_); }

  [[nodiscard]] std::string_view noun() const override { return recorded_->noun(); }
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter) const override {
    RecordingInfo info = recorded_->info(workers, filter);
    info.problems.add(note_);
    return info;
  }
  [[nodiscard]] const ProblemLog& problems() const override { return problems_; }
  [[nodiscard]] size_t file_count() const override { return recorded_->file_count(); }
  [[nodiscard]] const InputFile& input(size_t file) const override {
    return recorded_->input(file);
  }
  [[nodiscard]] std::vector<int64_t> writers() const override { return recorded_->writers(); }
  [[nodiscard]] uint64_t left_out_events() const override { return recorded_->left_out_events(); }
  [[nodiscard]] std::vector<std::string> function_choices() const override {
    return recorded_->function_choices();
  }
  [[nodiscard]] std::function<FunctionId(uint64_t)> functions_in(size_t file) const override {
    return recorded_->functions_in(file);
  }
  [[nodiscard]] const TimedCalls* timed_calls() const override { return &answers_; }

 private:
  std::unique_ptr<const Recording> recorded_;
  Calls calls_;
  TimedCallsOf<Calls> answers_;
  ProblemLog problems_;
  Problem note_;
};

}  // namespace telltale
