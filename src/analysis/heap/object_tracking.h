#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/runtime_events.h"

namespace telltale {

// Which objects to follow.
struct TrackedObjects {
  std::vector<uint64_t> addresses;  // addresses of objects at some time
  // Objects of at least this size, or whose type's name contains this, from their allocation on.
  uint64_t min_bytes = 0;   // 0: not used
  std::string type_part;    // empty: not used
  bool by_address = false;  // as in mprof-report: follows addresses instead of objects
};

// The history of some objects. docs/analysis/mono.md, "objects". Handles all events of a recording
// in file order. Memory: the followed objects and their history.
class ObjectTracking : public IgnoreEvents {
 public:
  enum class What : uint8_t { created, moved, came, referenced, handle, gone };
  struct Line {
    uint64_t object = 0;  // number of the object, from 1
    What what{};
    Ticks time = 0;
    uint64_t address = 0;  // of the object then
    uint64_t other = 0;    // moved: to; came: from; referenced: by
    TypeId type{};         // created: its own; referenced: that of the referrer
    uint64_t bytes = 0;
    uint64_t handle = 0;
    std::vector<FunctionId> stack;  // outermost first
  };

  // `type_name` returns a type's name; only called with a type_part.
  ObjectTracking(TrackedObjects wanted, std::function<std::string(TypeId)> type_name);

  void on(const AllocationEvent& event);
  void on(const ObjectsMoved& event);
  void on(const HeapObjectEvent& event);
  void on(const HandleEvent& event);

  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] uint64_t objects() const { return told_.size(); }  // those with lines

 private:
  [[nodiscard]] bool is_wanted(const AllocationEvent& event);
  [[nodiscard]] bool type_is_wanted(TypeId type);
  Line& add(uint64_t object, What what, Ticks time, uint64_t address);

  TrackedObjects wanted_;
  std::function<std::string(TypeId)> type_name_;
  std::unordered_set<uint64_t> addresses_;
  std::unordered_map<uint64_t, uint64_t> at_;         // address to number of the object
  std::unordered_map<uint64_t, bool> types_;          // known types: wanted or not
  std::vector<std::pair<uint64_t, uint64_t>> moved_;  // address, object
  uint64_t objects_ = 0;
  std::unordered_set<uint64_t> told_;  // objects that have lines
  std::vector<Line> lines_;
};

}  // namespace telltale
