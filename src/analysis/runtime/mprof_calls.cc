#include "analysis/runtime/mprof_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace telltale {

void MprofCalls::append(const MprofCalls& next) {
  std::vector<Method> both;
  both.reserve(methods.size() + next.methods.size());
  std::ranges::merge(methods, next.methods, std::back_inserter(both), {}, &Method::function,
                     &Method::function);
  methods.clear();
  for (const Method& method : both) {
    if (methods.empty() || methods.back().function != method.function) {
      methods.push_back(method);
      continue;
    }
    methods.back().calls += method.calls;
    methods.back().self += method.self;
    methods.back().callees += method.callees;
  }
  for (const Unmatched& exit : next.unmatched) {
    if (unmatched.size() < kKept) unmatched.push_back(exit);
  }
  unmatched_count += next.unmatched_count;
}

void MprofCallsSink::enter(Ticks time, FunctionId function) {
  last_ = time;
  if (!window_.holds(time)) return;
  frames_.push_back({function, time, 0});
}

void MprofCallsSink::pop(Ticks time) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  MprofCalls::Method& method = methods_[frame.function];
  if (method.calls == 0) {
    method.function = frame.function;
    seen_.push_back(frame.function);
  }
  const Ticks spent = time - frame.entered;
  ++method.calls;
  method.self += spent - frame.callees;
  method.callees += frame.callees;
  if (!frames_.empty()) frames_.back().callees += spent;
}

void MprofCallsSink::leave(Ticks time, FunctionId function, LeaveKind) {
  last_ = time;
  if (!window_.holds(time)) return;
  if (!frames_.empty() && frames_.back().function == function) return pop(time);
  ++result_.unmatched_count;
  if (result_.unmatched.size() < MprofCalls::kKept)
    result_.unmatched.push_back({frames_.size(), function});
}

MprofCalls MprofCallsSink::finish() {
  while (!frames_.empty()) pop(last_);
  std::ranges::sort(seen_);
  for (const FunctionId function : seen_) result_.methods.push_back(methods_[function]);
  return std::move(result_);
}

}  // namespace telltale
