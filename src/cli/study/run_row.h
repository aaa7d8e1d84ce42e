#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/study/job_runner.h"
#include "cli/study/study_folder.h"
#include "import/study.h"

namespace telltale::cli {

// What recorders of studies share: the parts of a run's row, and what they need before the first
// run.

inline constexpr std::string_view kTimeoutRule = "timeout";
// The run had output that nobody reads any more, which ends programs.
inline constexpr std::string_view kPipeRule = "pipe";

std::string utc_now();  // "2026-11-22T22:44:17Z"
// Sets status, signal, seconds, and label and rule by signal, status and timeout.
void note_ending(StudyRun& run, const JobOutcome& outcome);

// Seconds of "10", "1.5s", "200ms", "2m". Errors: usage.
Result<double> parse_timeout(const std::string& text);
// Errors: io, if the system gives no random number.
Result<uint64_t> seed_or_random(const std::optional<uint64_t>& seed);
// The programs that have the sites: the one that the command starts, which comes first, and
// `programs`. If there are `programs`, the command may be without sites, as a script is. Errors:
// io.
Result<std::vector<std::string>> find_programs(const std::vector<std::string>& command,
                                               std::vector<std::string> programs);
// What a study knows of the programs that it runs.
struct StudyBuild {
  std::string name;        // of the first program: build-id, or what stands for it
  bool is_traced = false;  // one of them can write core files of its paths (TELLTALE_PATHS)
};
// Adds the sites of all programs, which need sites or path tracing; the first one's build-id names
// the build of the runs. `of_command`: the programs were not named. Errors: those of
// StudyFolder::add_sites and traced_build_of.
Result<StudyBuild> add_all_programs(StudyFolder& study, const std::vector<std::string>& programs,
                                    bool of_command);
// Disables core files: those of hundreds of crashes would fill the disk.
void leave_no_cores();

}  // namespace telltale::cli
