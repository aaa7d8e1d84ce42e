#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

class ElfImage;

// The kind of a sled, numbered as in the file. Unknown numbers are kept.
enum class SledKind : uint8_t {
  function_enter = 0,
  function_exit = 1,
  tail_exit = 2,
  log_args_enter = 3,
  custom_event = 4,
  typed_event = 5,
};
constexpr unsigned kNamedSledKinds = 6;
// llvm-xray's name, e.g. "function-enter"; "kind-9" for an unknown number.
std::string to_string(SledKind kind);

// One place in a program that XRay can patch. Addresses are link-time addresses; in an object file
// they are offsets into a section.
struct Sled {
  uint64_t address = 0;
  uint64_t function = 0;          // address of the sled's function
  uint32_t function_id = 0;       // see InstrumentedFunction::id
  uint32_t function_section = 0;  // object files: index of the section of `function`; otherwise 0
  SledKind kind = SledKind::function_enter;
  bool always_instrument = false;
  uint8_t version =
      0;  // version of the entry's layout: 0 and 1 absolute addresses, 2 relative to the field
};

struct InstrumentedFunction {
  uint32_t id = 0;  // the function's id in recordings, from 1
  uint32_t section = 0;
  uint64_t address = 0;
  size_t first_sled = 0;  // in sleds()
  size_t sled_count = 0;  // at least 1
};

// The patchable places of a program built with clang's -fxray-instrument, from an ELF file's
// xray_instr_map sections (not run, not mapped) or from llvm-xray's YAML of them. Layouts and
// tolerated damage: docs/formats/xray-instrumentation-map.md. Immutable after reading. Safe on
// untrusted input; memory is at most 3 times the map's own bytes.
class InstrumentationMap {
 public:
  // Recognises the file by content. Damage and oddities go to `problems`. A readable ELF file
  // without a map yields an empty one. Errors: those of ElfImage::read; truncated for a separate
  // debug file, whose map has no bytes; unsupported_version if no entry has a known version;
  // bad_field for YAML of another structure.
  static Result<InstrumentationMap> read(Bytes bytes, const std::string& file,
                                         ProblemLog& problems);
  static Result<InstrumentationMap> read_elf(const ElfImage& image, ProblemLog& problems);
  static Result<InstrumentationMap> read_yaml(Bytes bytes, const std::string& file,
                                              ProblemLog& problems);

  // All sleds in the order of the file, grouped by function.
  [[nodiscard]] const std::vector<Sled>& sleds() const { return sleds_; }
  [[nodiscard]] const std::vector<InstrumentedFunction>& functions() const {
    return functions_;
  }  // by id
  [[nodiscard]] std::span<const Sled> sleds(const InstrumentedFunction& function) const {
    return std::span(sleds_).subspan(function.first_sled, function.sled_count);
  }
  // Null if no function has this id.
  [[nodiscard]] const InstrumentedFunction* find(uint32_t id) const;
  // The function's name in a YAML map; empty otherwise.
  [[nodiscard]] std::string_view given_name(const InstrumentedFunction& function) const;
  [[nodiscard]] size_t section_count() const {
    return section_count_;
  }  // ELF sections that were read

 private:
  friend class InstrumentationMapReader;
  friend class InstrumentationYamlReader;
  // Builds functions_ from runs of equal ids in sleds_.
  void group_functions();

  std::vector<Sled> sleds_;
  std::vector<InstrumentedFunction> functions_;
  std::vector<std::string> names_;  // parallel to functions_, or empty
  size_t section_count_ = 0;
};

// Writes the map as llvm-xray reads it (`llvm-xray account -m`), one line for each sled, in pieces
// to `out`. `quoted_name` returns a function's name as a YAML scalar, such as a JSON string. Sleds
// of kinds that llvm-xray does not know are omitted; returns their number.
size_t write_llvm_xray_yaml(
    const InstrumentationMap& map,
    const std::function<std::string(const InstrumentedFunction&)>& quoted_name,
    const std::function<void(std::string_view)>& out);

}  // namespace telltale
