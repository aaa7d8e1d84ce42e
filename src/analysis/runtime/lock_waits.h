#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "analysis/runtime/address_map.h"
#include "model/runtime_events.h"

namespace telltale {

// Waits for locks, by the locked object's address. A thread's wait is from its contention to its
// next success or failure, and belongs to the lock of the contention. docs/analysis/mono.md,
// "monitor". A part: append() in the order of each thread's pieces; threads in any order.
class LockWaits {
 public:
  struct Lock {
    uint64_t contentions = 0;
    uint64_t acquired = 0;  // after a contention, like the following ones
    uint64_t failed = 0;
    Ticks wait = 0;
    Ticks longest = 0;
  };

  void on(const PieceEvent& event) { stream_ = event.stream; }
  void on(const MonitorEvent& event);
  // Lists a lock, even without a wait.
  void mention(ObjectId object) { by_object_[to_number(object)]; }
  void append(const LockWaits& next);

  [[nodiscard]] const AddressMap<Lock>& by_object() const { return by_object_; }
  // Events of a kind (MonitorEvent::Kind).
  [[nodiscard]] uint64_t events(MonitorEvent::Kind kind) const {
    return events_[static_cast<size_t>(kind)];
  }

 private:
  struct Outcome {
    Ticks time = 0;
    bool acquired = true;
  };
  struct Wait {
    uint64_t object = 0;
    Ticks since = 0;
  };
  struct Thread {
    std::optional<Outcome> first;  // before any contention of the piece
    std::optional<Wait> waiting;
    bool contended = false;  // there was a contention
  };
  void end(const Wait& wait, const Outcome& outcome);

  size_t stream_ = 0;
  std::map<size_t, Thread> threads_;  // by stream
  AddressMap<Lock> by_object_;
  std::array<uint64_t, 4> events_{};
};

}  // namespace telltale
