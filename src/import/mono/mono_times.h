#pragma once

#include <optional>
#include <utility>

#include "formats/mono/call_run.h"
#include "model/clock.h"

namespace telltale {

// The time of a thread's last event. A call's time that is before it is raised to it.
class MonoTimes {
 public:
  explicit MonoTimes(Ticks floor) : floor_(floor) {}

  // The time of the last event.
  [[nodiscard]] Ticks floor() const { return floor_; }
  // Returns true once if a call's time stamp was earlier than that of the event before it.
  bool take_went_back() { return std::exchange(went_back_, false); }

 protected:
  // Passes calls to `emitter`, as CallRun::play does, and those that it leaves to emitter.call().
  template <typename Emitter>
  [[gnu::always_inline]] void play_calls(mono::CallRun& run, Emitter& emitter) {
    for (bool more = true; more;) {
      if (run.time() >= floor_) [[likely]] {
        run.play(emitter);
        floor_ = run.time();
      }
      std::optional<mono::TimedCall> call = run.next();
      more = call.has_value();
      if (more) {
        hold(*call);
        emitter.call(*call);
      }
    }
  }
  // Reads only the times of calls.
  void skip_calls(mono::CallRun& run);

  Ticks floor_;

 private:
  void hold(mono::TimedCall& call) {
    if (call.time < floor_) {
      went_back_ = true;
      call.time = floor_;
    }
    floor_ = call.time;
  }

  bool went_back_ = false;
};

}  // namespace telltale
