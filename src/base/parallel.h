#pragma once

#include <cstddef>
#include <functional>

namespace telltale {

// Number of workers to use for a request of `requested` (0 = all cores this process may run on).
size_t worker_count(size_t requested);

// Calls work(item, worker) for every item in [0, items), in increasing order of start, on `workers`
// threads (the caller is one of them); returns when all are done. The first exception is rethrown
// here.
void parallel_for(size_t items, size_t workers,
                  const std::function<void(size_t item, size_t worker)>& work);

}  // namespace telltale
