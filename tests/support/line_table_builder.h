#pragma once

#include <dwarf.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/byte_writer.h"
#include "program/line_table_files.h"

namespace telltale::testing {

// A line table of DWARF 5 without lines, as clang writes its head: names are in .debug_line_str.
struct LineTableBuilder {
  struct File {
    std::string name;
    uint8_t folder = 0;
    Md5 checksum = {};
  };
  std::vector<std::string> folders;  // the first is the compiler's
  std::vector<File> files;
  std::endian order = std::endian::little;
  bool is_wide = false;    // 64-bit DWARF
  bool is_inline = false;  // names are in the table
  uint16_t version = 5;
  bool has_checksums = true;

  // Appends names to `strings`, which is .debug_line_str.
  [[nodiscard]] std::string build(std::string& strings) const {
    ByteWriter head(order);
    // minimum_instruction_length to opcode_base, which is 1: no lengths of opcodes follow.
    for (const int byte : {1, 1, 1, 0xfb, 14, 1}) head.write(static_cast<uint8_t>(byte));
    const auto form = static_cast<uint8_t>(is_inline ? DW_FORM_string : DW_FORM_line_strp);
    for (const uint8_t byte : {uint8_t{1}, uint8_t{DW_LNCT_path}, form}) head.write(byte);
    head.write(static_cast<uint8_t>(folders.size()));
    for (const std::string& folder : folders) add_name(folder, head, strings);
    head.write(static_cast<uint8_t>(has_checksums ? 3 : 2));
    for (const uint8_t byte :
         {uint8_t{DW_LNCT_path}, form, uint8_t{DW_LNCT_directory_index}, uint8_t{DW_FORM_udata}})
      head.write(byte);
    if (has_checksums) head.write(uint8_t{DW_LNCT_MD5}).write(uint8_t{DW_FORM_data16});
    head.write(static_cast<uint8_t>(files.size()));
    for (const File& file : files) {
      add_name(file.name, head, strings);
      head.write(file.folder);
      if (!has_checksums) continue;
      for (const uint8_t byte : file.checksum) head.write(byte);
    }
    ByteWriter table(order);
    table.write(version).write(uint8_t{8}).write(uint8_t{0});
    add_offset(head.size(), table);
    ByteWriter whole(order);
    if (is_wide) whole.write(uint32_t{0xffffffff});
    add_offset(table.size() + head.size(), whole);
    return whole.take() + table.take() + head.take();
  }

 private:
  void add_offset(uint64_t value, ByteWriter& out) const {
    is_wide ? out.write(value) : out.write(static_cast<uint32_t>(value));
  }
  void add_name(const std::string& name, ByteWriter& out, std::string& strings) const {
    if (is_inline) {
      for (const char c : name) out.write(c);
      out.write('\0');
      return;
    }
    // Linkers merge equal strings.
    const std::string text = name + '\0';
    if (!strings.contains(text)) strings += text;
    add_offset(strings.find(text), out);
  }
};

}  // namespace telltale::testing
