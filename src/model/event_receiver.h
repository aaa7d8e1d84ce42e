#pragma once

#include <cstdint>

#include "model/estimated.h"
#include "model/events.h"

namespace telltale {

// An EventSink with virtual calls: for decoding that is rare enough that one loop for all sinks is
// better than a loop for each.
class EventReceiver {
 public:
  EventReceiver() = default;
  EventReceiver(const EventReceiver&) = delete;
  EventReceiver& operator=(const EventReceiver&) = delete;
  virtual ~EventReceiver() = default;
  virtual void enter(Ticks time, FunctionId function) = 0;
  virtual void argument(uint64_t value) = 0;
  virtual void leave(Ticks time, FunctionId function, LeaveKind how) = 0;
  virtual void instant(const InstantEvent& event) = 0;
  virtual void cpu(Ticks time, uint32_t number) = 0;
  virtual void loss(const LossEvent& event) = 0;
  virtual void estimated(bool now) = 0;
};
static_assert(EventSink<EventReceiver>);

// Passes everything on to `sink`, which must outlive it.
template <typename Sink>
class ReceiverOf final : public EventReceiver {
 public:
  explicit ReceiverOf(Sink& sink) : sink_(sink) {}
  void enter(Ticks time, FunctionId function) override { sink_.enter(time, function); }
  void argument(uint64_t value) override { sink_.argument(value); }
  void leave(Ticks time, FunctionId function, LeaveKind how) override {
    sink_.leave(time, function, how);
  }
  void instant(const InstantEvent& event) override { sink_.instant(event); }
  void cpu(Ticks time, uint32_t number) override { sink_.cpu(time, number); }
  void loss(const LossEvent& event) override { sink_.loss(event); }
  void estimated(bool now) override { emit_estimated(sink_, now); }

 private:
  Sink& sink_;
};

}  // namespace telltale
