#include "model/call_filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "model/short_name.h"

namespace telltale {

bool CallFilter::keeps_thread(const ThreadKey& thread) const {
  if (threads.empty()) return true;
  return std::ranges::any_of(threads, [&](const Thread& wanted) {
    // The only process with a pid has no number.
    const bool same_process =
        wanted.process == 0 || thread.process == 0 || wanted.process == thread.process;
    return wanted.tid == thread.tid && (!wanted.pid || *wanted.pid == thread.pid) && same_process;
  });
}

void CallFilter::settle(uint64_t span_ns) {
  const auto before_end = [span_ns](uint64_t& ns, bool& is_before_end) {
    if (std::exchange(is_before_end, false)) ns = span_ns - std::min(ns, span_ns);
  };
  before_end(from_ns, from_is_before_end);
  before_end(to_ns, to_is_before_end);
}

bool CallFilter::keeps_every_call() const {
  return keeps_every_time() && functions.empty() && max_depth == std::numeric_limits<size_t>::max();
}

bool CallFilter::matches(const FunctionInfo& function) const {
  if (functions.empty()) return true;
  const auto matches_one = [&](const std::string& pattern) {
    const auto fits = [&](const std::string& name) {
      return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    };
    return fits(function.name) ||
           (!function.linkage_name.empty() &&
            (fits(function.linkage_name) || fits(short_name(function.name))));
  };
  if (!matched || matched->size() != functions.size())
    return std::ranges::any_of(functions, matches_one);
  bool any = false;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!matches_one(functions[i])) continue;
    any = true;
    (*matched)[i].store(true, std::memory_order_relaxed);
  }
  return any;
}

bool FunctionFilter::keeps(FunctionId function) {
  if (filter_.functions.empty()) return true;
  int8_t& known = known_[function];
  if (known == 0) known = filter_.matches(names_.describe(function)) ? 1 : -1;
  return known > 0;
}

}  // namespace telltale
