#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/cursor.h"

namespace telltale {

// A note of an ELF file (System V gABI, chapter 5).
struct ElfNote {
  uint64_t offset = 0;    // of its header in the file
  std::string_view name;  // without the zero byte, never trusted
  uint32_t type = 0;      // NT_*, whose meaning depends on the name
  Bytes bytes;
};

// Calls use(note) for each note that is whole. Returns the offset of the first that is not, or of
// the end.
template <typename Use>
uint64_t for_each_elf_note(Cursor in, Use use) {
  while (!in.at_end()) {
    ElfNote note;
    note.offset = in.offset();
    const auto name_size = in.read<uint32_t>("n_namesz");
    const auto size = in.read<uint32_t>("n_descsz");
    note.type = in.read<uint32_t>("n_type");
    const Bytes name = in.take(name_size, "name");
    in.take((4 - name_size % 4) % 4, "padding");
    note.bytes = in.take(size, "note");
    if (in.error()) return note.offset;
    // The last note's padding may be missing.
    if (const uint32_t padding = (4 - size % 4) % 4; in.left() >= padding) {
      in.take(padding, "padding");
    } else {
      in.take(in.left(), "padding");
    }
    note.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    while (note.name.ends_with('\0')) note.name.remove_suffix(1);
    use(note);
  }
  return in.offset();
}

}  // namespace telltale
