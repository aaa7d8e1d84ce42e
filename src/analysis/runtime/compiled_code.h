#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/function_map.h"
#include "model/runtime_events.h"

namespace telltale {

// The runtime's compilations. docs/analysis/mono.md, "jit". A part: append() merges pieces in any
// order.
class CompiledCode {
 public:
  struct Method {
    size_t process = 0;
    FunctionId function{};
    uint64_t address = 0;  // of the last compilation in the file; 0: none has code
    uint64_t bytes = 0;    // as recorded
    uint64_t compilations = 0;

    // Mono records sizes that it never set for methods without code (finalizers and wrappers at
    // shutdown): any 32 bits. Their addresses are wrong, too. No method has 64 MiB of code.
    [[nodiscard]] bool knows_size() const { return bytes <= kMostBytes; }
    static constexpr uint64_t kMostBytes = (uint64_t{1} << 26) - 1;
    // REQUIRES: code >= address.
    [[nodiscard]] bool holds(uint64_t code) const { return knows_size() && code - address < bytes; }
  };

  void on(const PieceEvent& event) {
    place_ = event.offset;
    process_ = event.process;
  }
  void on(const CompiledEvent& event);
  void on(const RuntimeCodeEvent& event) {
    ++helpers_;
    helper_bytes_ += event.bytes;
  }
  void append(const CompiledCode& next);

  // All methods that have code, by function; those of several processes for each.
  [[nodiscard]] std::vector<Method> methods() const;
  [[nodiscard]] uint64_t helpers() const { return helpers_; }
  [[nodiscard]] uint64_t helper_bytes() const { return helper_bytes_; }

 private:
  struct Last {
    uint64_t place = 0;
    Method method;
  };
  // The number in `compiled_`, and whether it is new.
  std::pair<size_t, bool> place_of(size_t process, FunctionId function);

  uint64_t place_ = 0;
  size_t process_ = 0;
  std::vector<Last> compiled_;                     // one entry per process and method
  std::vector<FunctionMap<uint32_t>> by_process_;  // by function: 1 + index into compiled_
  uint64_t helpers_ = 0;
  uint64_t helper_bytes_ = 0;
};

}  // namespace telltale
