#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "import/path_facts.h"
#include "import/read_runs.h"
#include "import/recording_evidence.h"
#include "import/site_file_names.h"

namespace telltale {

// Reads recordings with paths in stack frames (core files, those of TELLTALE_PATHS) on `workers`
// threads (0: all cores), with the same answer for any number. Predicates: a call that had not
// returned took a path, or followed one; it ran a line; the process ran a line (if there is
// coverage). Paths are the same if their lines are. Files have the names of `files`
// (SiteFileNames). Errors: usage, if a recording has no paths in stack frames; those of StackPaths.
Result<RecordingEvidence> read_path_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers,
                                             const SiteFiles& files = {});

// The same in two steps, so that what was read can be kept.
using PathRun = ReadRun<PathFacts>;
PathRun read_path_run(const RunRecording& recording, const OpenRecording& open);
// `recordings`: of each run.
RecordingEvidence path_evidence(std::vector<PathRun> runs, std::span<const RunRecording> recordings,
                                const SiteFiles& files);

}  // namespace telltale
