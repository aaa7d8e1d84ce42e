#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "formats/csi/path_records.h"
#include "program/core_file.h"
#include "program/core_stacks.h"

namespace telltale {

// Which variants of functions a process did not run: where the core file has the variable
// `__CSI_inst_F` that chooses (docs/formats/csi.md, "Variants"), it ran only the chosen one. Core
// files have these variables if the kernel was asked for memory that is mapped from files.
class ChosenVariants {
 public:
  // Both must outlive it.
  ChosenVariants(const CoreFile& core, const CoreStacks& stacks) : core_(core), stacks_(stacks) {}

  // Removes the flow and the coverage of variants that the process did not run.
  void keep_chosen(const std::string& module, csi::PathRecords& records);

 private:
  // The chosen variant by the symbol of the function. Only of 64-bit modules, and without symbols
  // that several modules have.
  using Values = std::map<std::string, uint32_t, std::less<>>;
  void read();

  const CoreFile& core_;
  const CoreStacks& stacks_;
  std::optional<std::map<std::string, Values>> by_module_;  // once it was needed
};

// The symbols of the variants that do not run if the variable has this value; `variants` are all of
// a function.
std::set<std::string_view> variants_not_chosen(const std::set<std::string_view>& variants,
                                               uint32_t value);

}  // namespace telltale
