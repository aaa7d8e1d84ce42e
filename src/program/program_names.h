#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "program/instrumentation_map.h"
#include "program/symbolizer.h"

namespace telltale {

// Facts about a function that a recording identifies by a number. Empty and 0 mean unknown; text is
// as in the program, never trusted.
struct ProgramFunction {
  // The demangled name. Never empty: "#17" for an id that no program has, "@0x24780" for a function
  // whose program has no symbol there.
  std::string name;
  std::string linkage_name;
  std::string file;
  uint32_t line = 0;
  std::string module;  // path of the program or shared object
  uint64_t address = 0;
};

// Facts about one function of a map. `symbolizer` is of the same program; null for a YAML map.
ProgramFunction describe_function(const InstrumentationMap& map,
                                  const InstrumentedFunction& function, Symbolizer* symbolizer,
                                  std::string module);

// A program or shared object, and its number in recordings: 0 is the main program, the others are
// numbered in load order.
struct ProgramObject {
  uint32_t object = 0;  // at most 255
  std::string path;
};
// "PATH" is object 0, "2=PATH" object 2. Errors: usage.
Result<ProgramObject> parse_program_object(std::string_view text);

// XRay's packed function numbers: the object in the upper 8 bits, its function in the lower 24.
// Object 0 has all ids below 2^24 (LLVM 20 and later; before that the whole number was the
// function).
constexpr unsigned kXRayFunctionBits = 24;
constexpr uint32_t kXRayMaxObject = 255;
constexpr uint32_t pack_xray_id(uint32_t object, uint32_t function) {
  return object << kXRayFunctionBits | function;
}

// Names of the functions of one or several programs by XRay function id, from their instrumentation
// maps, symbols and DWARF. A file may also be llvm-xray's YAML of a map, which contains names.
// open() reads the maps; a program's symbols and DWARF are read at the first query for one of its
// functions.
class ProgramNames {
 public:
  // Errors: usage (an object twice), io, those of InstrumentationMap::read, and bad_field for a
  // program without an instrumentation map. A separate debug file among `objects` is used for the
  // program with the same build-id.
  static Result<ProgramNames> open(const std::vector<ProgramObject>& objects,
                                   SymbolizerOptions options, ProblemLog& problems);
  ProgramNames(ProgramNames&&) noexcept;
  ProgramNames& operator=(ProgramNames&&) noexcept;
  ~ProgramNames();

  // Thread-safe; the reference stays valid as long as this object.
  [[nodiscard]] const ProgramFunction& describe(uint32_t id) const;
  [[nodiscard]] uint64_t function_count() const;

 private:
  class State;
  explicit ProgramNames(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace telltale
