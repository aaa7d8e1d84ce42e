#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "program/elf_image.h"

namespace telltale {

// A place in a program: a link-time address (section 0), or in an object file an offset into a
// section.
struct ElfPlace {
  uint64_t address = 0;
  uint32_t section = 0;
  bool operator==(const ElfPlace&) const = default;
};

// The values of the address fields of a few sections, after their relocations: RELATIVE ones of
// position-independent programs, and the linker's own in object files. Holds a reference to the
// image.
class ElfFields {
 public:
  // `sections` are indexes into image.sections(), ascending. Errors: limit if overlapping
  // relocation sections contain more bytes than the file.
  static Result<ElfFields> collect(const ElfImage& image, const std::vector<uint32_t>& sections);

  // The place that the field at `offset` of `section` refers to; `stored` is its value in the file.
  // `relative`: the value is relative to the field's own address. Empty if the required relocation
  // is missing, unknown, or against a symbol that the file does not define.
  [[nodiscard]] std::optional<ElfPlace> resolve(const ElfSection& section, uint64_t offset,
                                                uint64_t stored, bool relative) const;

 private:
  struct Relocation {
    uint32_t section;       // that the field is in
    uint32_t symbol_table;  // index of the section
    uint64_t offset;        // of the field in that section
    uint64_t addend;
    uint32_t symbol;
    uint32_t type;
    bool stored_addend;  // the addend is the field's stored value
  };
  explicit ElfFields(const ElfImage& image) : image_(&image) {}
  void add(const ElfSection& table, const std::vector<uint32_t>& sections);
  [[nodiscard]] std::span<const Relocation> find(uint32_t section, uint64_t offset) const;
  [[nodiscard]] std::optional<ElfPlace> target(const Relocation& relocation, uint64_t stored) const;
  [[nodiscard]] std::optional<ElfPlace> apply(std::span<const Relocation> relocations,
                                              uint64_t stored) const;

  const ElfImage* image_;
  std::vector<Relocation> relocations_;  // in order of section and offset
};

}  // namespace telltale
