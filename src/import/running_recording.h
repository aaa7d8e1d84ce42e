#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "import/recording.h"

namespace telltale {

// The same recording without the time in which threads waited (model/waiting.h): the clock of each
// thread stands still while it waits, and there are no calls of `(waiting)`. Its timed calls answer
// so, everything else is `recorded`'s. Its problems contain one of the kind `estimate`, which says
// how much was left out. A recording without waits is returned as it is. Reads all calls once, on
// `workers` threads (0: all cores). Errors: usage, if there are no timed calls.
Result<std::unique_ptr<const Recording>> without_waiting(std::unique_ptr<const Recording> recorded,
                                                         size_t workers);

}  // namespace telltale
