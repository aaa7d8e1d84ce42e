#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runtime/address_map.h"
#include "analysis/runtime/compiled_code.h"
#include "model/runtime_events.h"

namespace telltale {

// A symbol has no size: it names the addresses from its own up to this distance, exclusive.
inline constexpr uint64_t kSymbolReach = 4096;

// Processor locations of samples: by compiled method, native symbol or binary.
// docs/analysis/mono.md, "sample". A part: append() merges pieces in any order.
class NativeSamples {
 public:
  struct Line {
    enum class Kind : uint8_t { method, symbol, binary, unknown };
    Kind kind = Kind::unknown;
    FunctionId function{};  // of a method
    std::string name;       // of a symbol or binary
    uint64_t hits = 0;
  };
  struct Resolved {
    uint64_t managed = 0;
    uint64_t unmanaged = 0;
    uint64_t unresolved = 0;  // unmanaged hits without a symbol
    std::vector<Line> lines;  // most hits first; equal ones methods first, by name or id
    [[nodiscard]] uint64_t samples() const { return managed + unmanaged; }
  };

  void on(const PieceEvent& event) {
    place_ = event.offset;
    address_bits_ = event.address_bits;
  }
  void on(const SampleEvent& event);
  void on(const NativeSymbolEvent& event) {
    symbols_.insert_or_assign(event.address, Named{place_, 0, std::string(event.name)});
  }
  void on(const NativeBinaryEvent& event) {
    binaries_.insert_or_assign(event.address, Named{place_, event.bytes, std::string(event.name)});
  }
  void append(const NativeSamples& next);

  [[nodiscard]] bool empty() const { return hits_.empty(); }
  // Kind of the first sample in the file (SampleEvent::kind); none: not recorded.
  [[nodiscard]] std::optional<uint64_t> first_kind() const { return first_kind_; }
  // `methods`: those with code. Symbols and binaries of one name in several processes are one line.
  [[nodiscard]] Resolved resolve(const std::vector<CompiledCode::Method>& methods) const;

 private:
  struct Named {
    uint64_t place = 0;
    uint64_t bytes = 0;
    std::string name;
  };
  static void add_named(std::map<uint64_t, Named>& to, const std::map<uint64_t, Named>& from);

  uint64_t place_ = 0;
  unsigned address_bits_ = 64;  // as in PieceEvent
  bool any_ = false;
  uint64_t first_place_ = 0;
  std::optional<uint64_t> first_kind_;
  AddressMap<uint64_t> hits_;          // by address
  std::map<uint64_t, Named> symbols_;  // by address
  std::map<uint64_t, Named> binaries_;
};

}  // namespace telltale
