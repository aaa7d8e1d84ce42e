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

// What the address fields of a few sections mean, with the relocations applied that concern them:
// RELATIVE ones of position-independent programs, and the linker's own in object files. Holds a
// reference to the image.
class ElfFields {
 public:
  // `sections` are indexes into image.sections(), ascending. Errors: limit when relocation sections
  // overlap one another so much that they hold more bytes than the file.
  static Result<ElfFields> collect(const ElfImage& image, const std::vector<uint32_t>& sections);

  // The place that the field at `offset` of `section` means; `stored` is its value in the file.
  // `relative`: the value counts from the field's own address. None when a relocation is needed
  // that is missing, not understood, or against a symbol that the file does not define.
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
    bool stored_addend;  // the addend is what stands in the field
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
