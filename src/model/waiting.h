#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "model/function_names.h"

namespace telltale {

// While a thread does not run, recordings that tell so have a call of this function: it is the
// callee of whatever waits, so that every answer splits time on a processor from waiting. No format
// has a function with this id.
inline constexpr FunctionId kWaiting{0xFFFF'FFFF};
inline constexpr std::string_view kWaitingName = "(waiting)";

// What `calls` of the function add to numbers of calls that are compared: nothing for waiting. No
// instruction of the program decides how often a thread waits; the same run has other waits the
// next time.
constexpr uint64_t comparable_calls(FunctionId function, uint64_t calls) {
  return function == kWaiting ? 0 : calls;
}

// The names of a recording with such calls.
class NamesWithWaiting final : public FunctionNames {
 public:
  explicit NamesWithWaiting(std::shared_ptr<const FunctionNames> names)
      : names_(std::move(names)) {}
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override {
    return id == kWaiting ? waiting_ : names_->describe(id);
  }

 private:
  std::shared_ptr<const FunctionNames> names_;
  FunctionInfo waiting_{std::string(kWaitingName), {}, {}, 0, {}};
};

}  // namespace telltale
