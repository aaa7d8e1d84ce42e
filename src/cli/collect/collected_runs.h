#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "cli/study/study_recorder.h"
#include "collect/client/report_spool.h"
#include "import/study.h"

namespace telltale::cli {

// Says why a run is not reported, with which the program has nothing to do.
void print_not_reported(const Error& error);

// What `run --collect` does with runs: their reports go to the spool, and later to the server. What
// fails here is said once and never harms the run.
class CollectedRuns {
 public:
  // None: the user does not agree, or there is no spool, which is said. `program` is what the
  // command starts. Errors: usage.
  static Result<std::optional<CollectedRuns>> begin(const StudyOptions& options,
                                                    const std::string& program);

  // How the next run is sampled: as the spool or the server wishes, or one region in 100.
  [[nodiscard]] sampler::SamplingWish wish(const std::string& build) const;
  // Adds a run that has ended; `report` and `paths` are files, which may be missing.
  void add(const StudyRun& run, const std::string& report, const std::string& paths);
  // Starts a process that sends what is due, which nobody waits for; or says until when reports are
  // kept back.
  void send() const;

 private:
  CollectedRuns(collect::ReportSpool spool, std::string application, const StudyOptions& options);

  collect::ReportSpool spool_;
  std::string application_;
  std::string url_;
  std::string token_file_;
  bool quiet_;
  bool with_paths_;
  bool failed_ = false;
};

}  // namespace telltale::cli
