#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/core_file.h"
#include "program/core_stacks.h"
#include "program/dwarf_functions.h"
#include "program/dwarf_location.h"
#include "program/dwarf_units.h"
#include "program/exception_landing.h"

namespace telltale {

// Describes the frames of stacks: functions, inlined ones among them, lines and variables, from the
// debug information of their modules.
class FrameReader {
 public:
  // `find`: places of variables that hold at every instruction of a function, with debug
  // information or without it; may be empty. `read_debug_info`: empty for all modules.
  FrameReader(const CoreFile& core, std::vector<std::string> variables, FindVariables find,
              ReadDebugInfo read_debug_info)
      : core_(core),
        variables_(std::move(variables)),
        find_(std::move(find)),
        read_debug_info_(std::move(read_debug_info)) {}

  // Appends the frames of one physical frame, the innermost first. `state` is at that frame; if it
  // is `in_call`, at the last byte of a call, and not interrupted there.
  void read(Dwfl* dwfl, Dwfl_Frame* state, bool in_call, std::vector<StackFrame>& frames);

  // Files of split debug information that were not found for frames that read() has described, one
  // for each module, by its path.
  [[nodiscard]] const std::map<std::string, std::string>& missing_files() const {
    return missing_files_;
  }

  // `state` is at `frame`, which is of an exception unwinder, see find_landing().
  [[nodiscard]] std::optional<LandingRegisters> find_landing(Dwfl* dwfl, Dwfl_Frame* state,
                                                             const StackFrame& frame) const;
  // Whether it is at one of the unwinder's last instructions: the unwind tables are right, but the
  // return address is that of a landing pad, and follows no call.
  [[nodiscard]] bool has_landing_for_caller(Dwfl* dwfl, Dwfl_Frame* state) const;

 private:
  struct Place {
    Dwfl_Module* module = nullptr;
    Dwarf* dwarf = nullptr;
    uint64_t pc = 0;  // an address inside the instruction
    uint64_t bias = 0;
  };
  void read_functions(const Place& place, LocationContext& context, StackFrame frame,
                      std::vector<StackFrame>& frames);
  void read_variables(const Place& place, Dwarf_Die function, const LocationContext& context,
                      StackFrame& frame, size_t depth) const;
  [[nodiscard]] StackVariable read_variable(const Place& place, std::string name, Dwarf_Die& die,
                                            const LocationContext& context) const;
  [[nodiscard]] LocationContext context_of(const Place& place, Dwfl_Frame* state) const;
  // `frames`: those of one physical frame.
  void add_placed_variables(const Place& place, const LocationContext& context,
                            std::span<StackFrame> frames) const;

  const CoreFile& core_;
  std::vector<std::string> variables_;
  FindVariables find_;
  ReadDebugInfo read_debug_info_;
  std::unordered_map<Dwfl_Module*, DwarfUnits> units_;
  std::unordered_map<Dwfl_Module*, DwarfFunctions> functions_;
  std::map<std::string, std::string> missing_files_;
};

}  // namespace telltale
