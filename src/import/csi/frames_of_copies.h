#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"
#include "import/stack_paths.h"

namespace telltale {

// Where copies of a function ran in each other's place (`FlowRecord::Call::runs_other_copy`) and
// the code generator made no jumps of these calls, one call of the source has several frames. The
// innermost ran the code. The others only chose a copy: they ran no line. Frames of a function that
// calls itself are calls of their own.
//
// By frame of the thread: the number of its call in the stack; the innermost is 0.
std::vector<size_t> calls_of_frames(const FlowFunctions& functions,
                                    const std::map<std::string, ModulePaths>& modules,
                                    const ThreadPaths& thread);

// Keeps the innermost frame of each such call. Forgets what a frame that only chose says of its
// call, if the copy has no frame. For readers: evidence is taken from all frames.
void join_frames_of_copies(const FlowFunctions& functions,
                           const std::map<std::string, ModulePaths>& modules,
                           std::vector<ThreadPaths>& threads);

}  // namespace telltale
