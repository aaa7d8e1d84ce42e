#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/function_names.h"

namespace telltale {

// How functions are named in an answer (docs/analysis/names.md).
enum class NameStyle : uint8_t {
  short_names,  // short_name() of a C++ or Rust name
  full,         // demangled, with all template arguments
  mangled,      // the linker's name
};

// A style without the linker's name at hand falls back to the full one. Names of other languages
// than C++ and Rust, which have no linkage name, are the same in every style.
std::string styled_name(const FunctionInfo& function, NameStyle style);

// The same functions with names of a style. `names` outlives this.
class StyledNames final : public FunctionNames {
 public:
  StyledNames(const FunctionNames& names, NameStyle style) : names_(names), style_(style) {}
  [[nodiscard]] const FunctionInfo& describe(FunctionId id) const override;
  // The functions whose names were asked for until now, by number.
  [[nodiscard]] std::vector<FunctionId> described() const;

 private:
  const FunctionNames& names_;
  NameStyle style_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<FunctionId, FunctionInfo> styled_;
};

}  // namespace telltale
