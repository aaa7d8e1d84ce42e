#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>

#include "base/error.h"
#include "import/open_options.h"
#include "import/recording.h"

namespace telltale {

struct ProcessRecording {
  std::unique_ptr<const Recording> recording;
  std::chrono::nanoseconds stopped{};  // how long the process did not run
};

// The stacks of a running process, as if it had dumped core. Errors: those of
// take_process_snapshot (program/live_process.h).
Result<ProcessRecording> open_process(pid_t pid, const OpenOptions& options);

}  // namespace telltale
