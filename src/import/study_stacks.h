#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "import/open_options.h"
#include "import/stack_paths.h"
#include "import/study.h"

namespace telltale {

// The file stacks.tsv of a study (docs/formats/study.md): the stacks with which failed runs ended.

// The stacks of runs by number of the run; the innermost frame first.
using StudyStacks = std::map<uint64_t, std::vector<isolation::StackFrame>>;

std::string study_stacks_path(const std::string& folder);
std::string study_stacks_head();
// A line for each frame.
std::string to_lines(uint64_t run, const std::vector<isolation::StackFrame>& stack);
// Of several stacks of one run the last. `problems` gets rows that are not frames, and the last one
// if it is torn. Errors: bad_magic, if the file is no stacks.tsv.
Result<StudyStacks> read_study_stacks(Bytes file, const std::string& name, ProblemLog& problems);
// The stacks of a study, empty if it has no such file. Errors: io, and those of the other.
Result<StudyStacks> read_study_stacks(const std::string& folder, ProblemLog& problems);

// The stack of the thread that ended a program, as its core file has it; options.files names the
// core file. Of deep recursions the 48 innermost and the 16 outermost frames. Empty if the file
// cannot be read: the run may have left none.
std::vector<isolation::StackFrame> read_core_stack(const OpenOptions& options);
// The same of an open recording and its threads.
std::vector<isolation::StackFrame> core_stack(const StackPaths& paths,
                                              const std::vector<ThreadPaths>& threads);
// Leaves that many frames.
void shorten_stack(std::vector<isolation::StackFrame>& stack);

// How a failed run ended, for crash clusters. A run that took too long has no stack: where it was
// interrupted, if it was, says little.
isolation::Crash crash_of(const StudyRun& run, const StudyStacks& stacks);

}  // namespace telltale
