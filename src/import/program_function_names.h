#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "import/open_options.h"
#include "model/function_names.h"
#include "program/program_names.h"

namespace telltale {

// Names from options.programs, given as "PATH" or "OBJECT=PATH"; "#17" for all without programs.
// Errors: usage, and those of ProgramNames::open.
Result<std::shared_ptr<const FunctionNames>> open_function_names(const OpenOptions& options,
                                                                 ProblemLog& problems);

// Function names of programs; the model's FunctionId is the XRay function id.
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
