#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace telltale {

inline constexpr uint64_t kMostWorkers = 1024;

// Number of workers to use for a request of `requested` (0 = all cores this process may run on); at
// most kMostWorkers, because callers have data of each.
size_t worker_count(size_t requested);

// Calls work(item, worker) for every item in [0, items), started in increasing order, on `workers`
// threads (including the caller's); returns when all are done. Rethrows the first exception.
void parallel_for(size_t items, size_t workers,
                  const std::function<void(size_t item, size_t worker)>& work);

}  // namespace telltale
