#include "model/call_filter.h"

#include <fnmatch.h>

#include <algorithm>

namespace telltale {

bool CallFilter::keeps_thread(const ThreadKey& thread) const {
  if (threads.empty()) return true;
  return std::ranges::any_of(threads, [&](const Thread& wanted) {
    return wanted.tid == thread.tid && (!wanted.pid || *wanted.pid == thread.pid);
  });
}

bool CallFilter::keeps_every_call() const {
  return keeps_every_time() && functions.empty() && max_depth == std::numeric_limits<size_t>::max();
}

bool CallFilter::matches(const FunctionInfo& function) const {
  if (functions.empty()) return true;
  return std::ranges::any_of(functions, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), function.name.c_str(), 0) == 0 ||
           (!function.linkage_name.empty() &&
            ::fnmatch(pattern.c_str(), function.linkage_name.c_str(), 0) == 0);
  });
}

bool FunctionFilter::keeps(FunctionId function) {
  if (filter_.functions.empty()) return true;
  int8_t& known = known_[function];
  if (known == 0) known = filter_.matches(names_.describe(function)) ? 1 : -1;
  return known > 0;
}

}  // namespace telltale
