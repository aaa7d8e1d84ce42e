#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/range_map.h"
#include "model/estimated.h"
#include "model/events.h"
#include "model/waiting.h"

namespace telltale {

// Maps function ids of one file to those of a recording of several files.
class IdMap {
 public:
  // High bits of ids that the file does not define; the low 28 bits are the file's id.
  static constexpr uint32_t kUnexplained = uint32_t{1} << 31;

  // Maps every id to itself.
  IdMap() = default;
  [[nodiscard]] bool is_identity() const { return identity_; }
  [[nodiscard]] FunctionId operator()(FunctionId id) const {
    if (id == kWaiting) return id;
    const uint32_t number = to_number(id);
    if (const auto found = single_.find(number); found != single_.end())
      return FunctionId{found->second};
    if (const auto found = ranges_.find(number))
      return FunctionId{static_cast<uint32_t>(*found + number)};
    return FunctionId{kUnexplained | number};
  }

 private:
  friend class MergedNames;
  bool identity_ = true;
  std::unordered_map<uint32_t, uint32_t> single_;
  RangeMap ranges_;  // to the offset added to the id, modulo 2^32
};

// An EventSink that forwards to another with function ids replaced by the recording's.
template <typename Sink>
class MappedIds {
 public:
  MappedIds(Sink& sink, const IdMap& ids) : sink_(sink), ids_(ids) {}
  void enter(Ticks time, FunctionId function) { sink_.enter(time, map(function)); }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    sink_.leave(time, map(function), how);
  }
  void argument(uint64_t value) { sink_.argument(value); }
  void instant(const InstantEvent& event) { sink_.instant(event); }
  void cpu(Ticks time, uint32_t number) { sink_.cpu(time, number); }
  void loss(const LossEvent& event) { sink_.loss(event); }
  void estimated(bool now) { emit_estimated(sink_, now); }

 private:
  FunctionId map(FunctionId function) const {
    return ids_.is_identity() ? function : ids_(function);
  }
  Sink& sink_;
  const IdMap& ids_;
};

}  // namespace telltale
