#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"
#include "import/recording.h"

namespace telltale {

// The same recording without waiting time (model/waiting.h): each thread's clock stops while the
// thread waits, and calls of `(waiting)` are removed. This changes only the timed calls. One
// problem of the kind `estimate` says how much time was removed. A recording without waits is
// returned unchanged. Reads all calls once, on `workers` threads (0: all cores). Errors: usage, if
// there are no timed calls.
Result<std::unique_ptr<const Recording>> without_waiting(std::unique_ptr<const Recording> recorded,
                                                         size_t workers);

}  // namespace telltale
