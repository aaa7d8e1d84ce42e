#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/progress.h"

namespace telltale {
namespace {

std::atomic<uint64_t> items_done = 0;

}  // namespace

uint64_t parallel_items_done() { return items_done.load(std::memory_order_relaxed); }

size_t worker_count(size_t requested) {
  if (requested != 0) return std::min<size_t>(requested, kMostWorkers);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return std::max<size_t>(1, static_cast<size_t>(CPU_COUNT(&allowed)));
  }
  return std::max<size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for(size_t items, size_t workers, const std::function<void(size_t, size_t)>& work) {
  workers = std::min(std::max<size_t>(1, workers), items);
  std::atomic<size_t> next = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto run = [&](size_t worker) {
    try {
      for (size_t item = next++; item < items; item = next++) {
        work(item, worker);
        items_done.fetch_add(1, std::memory_order_relaxed);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = items;
    }
  };
  std::vector<std::jthread> threads;
  for (size_t worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
  run(0);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace telltale
