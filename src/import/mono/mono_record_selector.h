#pragma once

#include <cstdint>

#include "formats/mono/record_selector.h"
#include "model/record_filter.h"

namespace telltale {

// A call filter, for the events of a Mono recording. `filter` must outlive it, and its function_at
// must be set.
class MonoRecordSelector final : public mono::RecordSelector {
 public:
  explicit MonoRecordSelector(RecordFilter& filter) : filter_(filter) {}

  void begin_buffer(int64_t pid, uint64_t thread) override {
    thread_ = &filter_.thread({pid, static_cast<int64_t>(thread)});
  }
  bool call(uint64_t time, const mono::Call& call) override {
    const FunctionId function = filter_.function_at(call.method);
    if (call.action == mono::Call::Action::enter) return thread_->enter(time, function);
    return thread_->leave(
        time, function,
        call.action == mono::Call::Action::leave ? LeaveKind::normal : LeaveKind::exception);
  }
  [[nodiscard]] bool other(uint64_t time) const override { return thread_->other(time); }

 private:
  RecordFilter& filter_;
  RecordFilter::Thread* thread_ = nullptr;
};

}  // namespace telltale
