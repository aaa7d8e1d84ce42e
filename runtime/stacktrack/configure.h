#pragma once

// Opening and closing sinks, from the interface, from the environment, and in a forked child.

#include "sinks.h"

namespace telltale::st {

// One thread at a time changes what is open; the others yield the processor until it is done. Not
// for signal handlers.
class Configuring {
 public:
  Configuring();
  ~Configuring();
  Configuring(const Configuring&) = delete;
  Configuring& operator=(const Configuring&) = delete;
  // In a forked child: nobody is.
  static void reset();
};

// <program>_<date>_<time>_<pid> of now and of this process.
void name_files(FilePlan& plan);
// Makes the sink's first store by its plan and posts its header; a ring in memory, a file, or
// nothing for a callback.
int start_sink(Sink& sink, uint32_t cycle);
// What follows from which sinks are open.
void settle();

// Opens what the environment variable TELLTALE_STACKTRACK asks for, if it is set
// (docs/design/stacktrack-runtime.md).
void open_from_environment();

// Writes a classic file anew: without empty slots, in order of capture. 0 or a negative errno
// value; then it is as it was.
int put_in_order(const char* path);

}  // namespace telltale::st
