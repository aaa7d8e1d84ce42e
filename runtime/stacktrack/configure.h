#pragma once

// Opens and closes sinks: from the interface, from the environment, and in a forked child.

#include "sinks.h"

namespace telltale::st {

// One thread at a time changes the set of open sinks; the others yield the processor until it is
// done. Not for signal handlers.
class Configuring {
 public:
  Configuring();
  ~Configuring();
  Configuring(const Configuring&) = delete;
  Configuring& operator=(const Configuring&) = delete;
  // In a forked child: no thread is configuring.
  static void reset();
};

// <program>_<date>_<time>_<pid> for now and for this process.
void name_files(FilePlan& plan);
// Makes the sink's first store by its plan and posts its header: a ring in memory, a file, or
// nothing for a callback.
int start_sink(Sink& sink, uint32_t cycle);
// Updates the settings that depend on which sinks are open.
void settle();

// FilePlan::limit_bytes of files that are opened from now on.
extern uint64_t default_limit_bytes;

// Opens the sink described by the environment variable TELLTALE_STACKTRACK, if it is set
// (docs/design/stacktrack-runtime.md).
void open_from_environment();

// Rewrites a classic file without empty slots, in order of capture. 0, or a negative errno value if
// it failed and the file is unchanged.
int put_in_order(const char* path);

}  // namespace telltale::st
