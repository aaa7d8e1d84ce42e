#pragma once

#include <mutex>
#include <unordered_map>
#include <utility>

#include "model/function_names.h"
#include "program/program_names.h"

namespace telltale {

// The names of programs' functions as the model sees them: FunctionId is the XRay function id.
class ProgramFunctionNames final : public FunctionNames {
 public:
  explicit ProgramFunctionNames(ProgramNames names) : names_(std::move(names)) {}
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;

 private:
  ProgramNames names_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<FunctionId, FunctionInfo> described_;
};

}  // namespace telltale
