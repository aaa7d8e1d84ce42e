#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/runtime_events.h"

namespace telltale {

// Handles to objects, by kind: created, destroyed, and the most that were alive at one time.
// docs/analysis/mono.md, "gc". A part: append() merges pieces in any order.
class GcHandles {
 public:
  static constexpr size_t kKinds = 4;  // as HandleEvent::Kind
  struct Kind {
    uint64_t created = 0;
    uint64_t destroyed = 0;
    int64_t most = 0;  // alive at one time in one process, without those created earlier
  };

  void on(const PieceEvent& event) {
    place_ = event.offset;
    process_ = event.process;
  }
  void on(const HandleEvent& event);
  void append(const GcHandles& next);

  [[nodiscard]] std::array<Kind, kKinds> kinds() const;

 private:
  struct Change {
    int64_t made = 0;  // created less destroyed, at the end of the piece
    int64_t most = 0;  // its maximum within the piece; at least 0
    uint64_t created = 0;
  };
  struct Piece {
    size_t process = 0;
    uint64_t place = 0;
    std::array<Change, kKinds> kinds{};
  };
  uint64_t place_ = 0;
  size_t process_ = 0;
  std::vector<Piece> pieces_;  // only those with handles
};

}  // namespace telltale
