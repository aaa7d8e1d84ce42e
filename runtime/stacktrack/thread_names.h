#pragma once

// Names of threads in recordings: a property of a file that does not exist, because the published
// format has no record for them (docs/formats/stacktrack.md, "Names of threads").

#include <cstddef>
#include <cstdint>

#include "sinks.h"

namespace telltale::st {

// Posts the thread's name to the stores in which it has begun a chunk since the last call: unless
// the store has it, or into the chunk of a ring. `count` slots of that stay free for an event. For
// the thread that the node belongs to. Async-signal-safe.
void post_thread_name(Node& node, const View& view, uint64_t sequence, size_t count);

}  // namespace telltale::st
