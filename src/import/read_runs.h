#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "import/capability.h"
#include "import/format_descriptor.h"
#include "import/recording_evidence.h"

namespace telltale {

// What one run's recording says, or why it says nothing.
template <typename Facts>
struct ReadRun {
  std::optional<Facts> facts;  // none: could not be read
  ProblemLog problems;
  std::optional<Error> error;  // ends the reading of all
};

// Reads one recording. `interface` is a member function of Recording that returns a capability's
// interface, `wanted` the capability; read(const Recording&, const Interface&, ProblemLog&) returns
// Result<Facts>. Errors: usage, if the recording lacks the capability, and those of read().
template <typename Facts, typename Interface, typename Read>
ReadRun<Facts> read_run(const RunRecording& of, const OpenRecording& open, Capability wanted,
                        const Interface* (Recording::*interface)() const, Read read) {
  ReadRun<Facts> run;
  const auto recording = open(of);
  if (!recording) {
    run.problems.add({Problem::Kind::loss, 0, of.path, "recording", recording.error().detail, 0});
    return run;
  }
  const Interface* has = ((**recording).*interface)();
  if (has == nullptr) {
    run.error = usage_error(fmt::format("{} is {}, which has no {}", of.path, (*recording)->noun(),
                                        name_of(wanted)))
                    .error();
    return run;
  }
  run.problems.merge((*recording)->problems());
  Result<Facts> facts = read(**recording, *has, run.problems);
  if (facts)
    run.facts = *std::move(facts);
  else
    run.error = facts.error();
  return run;
}

// Reads the recordings on `workers` threads (0: all cores); the result is in their order. The rest
// is as for read_run().
template <typename Facts, typename Interface, typename Read>
std::vector<ReadRun<Facts>> read_runs(std::span<const RunRecording> recordings,
                                      const OpenRecording& open, size_t workers, Capability wanted,
                                      const Interface* (Recording::*interface)() const, Read read) {
  std::vector<ReadRun<Facts>> runs(recordings.size());
  parallel_for(recordings.size(), worker_count(workers), [&](size_t i, size_t) {
    runs[i] = read_run<Facts>(recordings[i], open, wanted, interface, read);
  });
  return runs;
}

// The observations of the runs that could be read; `predicates` has observe(const Facts&).
template <typename Runs, typename Predicates>
RecordingEvidence observe_runs(const Runs& runs, std::span<const RunRecording> recordings,
                               std::unique_ptr<const Predicates> predicates) {
  RecordingEvidence evidence;
  for (size_t i = 0; i < runs.size(); ++i) {
    evidence.problems.merge(runs[i].problems);
    if (runs[i].facts) {
      evidence.recording_of_run.push_back(i);
      evidence.runs.push_back({predicates->observe(*runs[i].facts), recordings[i].failed});
    } else {
      ++evidence.without_report;
    }
  }
  evidence.predicates = std::move(predicates);
  return evidence;
}

// The first error of the runs; none: all were read, or could not be.
template <typename Facts>
const Error* first_error(const std::vector<ReadRun<Facts>>& runs) {
  for (const ReadRun<Facts>& run : runs) {
    if (run.error) return &*run.error;
  }
  return nullptr;
}

}  // namespace telltale
