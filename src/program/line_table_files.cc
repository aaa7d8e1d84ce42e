#include "program/line_table_files.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/plain_path.h"
#include "bytes/read_leb.h"

namespace telltale {
namespace {

constexpr uint32_t kWideLength = 0xffffffff;       // the 64-bit length follows
constexpr uint32_t kReservedLengths = 0xfffffff0;  // and above
constexpr size_t kLongestName = 4096;              // PATH_MAX of Linux
constexpr uint64_t kNamesPerByte = 64;             // bytes of names for each byte of line tables
constexpr uint64_t kFreeNames = 1 << 16;

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class LineTableReader {
 public:
  LineTableReader(const LineTables& tables, const UseSourceFile& use, ProblemLog& problems)
      : tables_(tables),
        use_(use),
        problems_(problems),
        names_left_(kFreeNames + kNamesPerByte * tables.lines.size()) {}

  void read() {
    Cursor in(tables_.lines, tables_.order, tables_.offset);
    in.begin_record(".debug_line");
    while (!in.at_end() && names_left_ != 0) {
      const bool is_wide = read_length(in);
      Cursor table = in.split(length_, "unit_length");
      if (!in.error()) read_table(table, is_wide);
      tell(in.error() ? in : table);
      if (in.error()) return;
    }
  }

 private:
  // A field of the entries of a list of folders or files.
  struct Format {
    uint64_t content = 0;  // DW_LNCT_*
    uint64_t form = 0;     // DW_FORM_*
  };
  // Of a field; empty and 0 where the form has no such value.
  struct Value {
    std::string_view text = {};
    uint64_t number = 0;
    Bytes block = {};
  };
  struct Entry {
    std::string_view name;
    uint64_t folder = 0;
    std::optional<Md5> checksum;
  };

  // Of a table, into length_; whether offsets in it have 64 bits.
  bool read_length(Cursor& in) {
    length_ = in.read<uint32_t>("unit_length");
    if (length_ == kWideLength) {
      length_ = in.read<uint64_t>("unit_length");
      return true;
    }
    if (length_ >= kReservedLengths)
      in.fail(Error::Cause::bad_field, fmt::format("unit_length {:#x}", length_));
    return false;
  }

  void read_table(Cursor& table, bool is_wide) {
    if (table.at_end()) return;  // padding
    if (table.read<uint16_t>("version") != 5) return;
    table.take(2, "address_size");  // and segment_selector_size
    is_wide_ = is_wide;
    const uint64_t header_bytes = read_offset(table, "header_length");
    Cursor header = table.split(header_bytes, "header_length");
    header.take(5, "minimum_instruction_length");  // to line_range
    const auto opcode_base = header.read<uint8_t>("opcode_base");
    header.take(opcode_base == 0 ? 0 : opcode_base - 1, "standard_opcode_lengths");
    folders_.clear();
    read_entries(header, "directories_count",
                 [&](const Entry& folder) { folders_.push_back(folder.name); });
    read_entries(header, "file_names_count", [&](const Entry& file) { add(file); });
    table = header;
  }

  template <typename Use>
  void read_entries(Cursor& in, std::string_view count_field, const Use& use) {
    std::vector<Format> formats(in.read<uint8_t>("entry_format_count"));
    for (Format& format : formats) {
      format.content = read_leb(in);
      format.form = read_leb(in);
    }
    const uint64_t count = read_leb(in);
    // Each entry takes a byte at least, so that the section's size bounds the loop.
    if (count != 0 && formats.empty())
      in.fail(Error::Cause::bad_field, fmt::format("{} {} of no fields", count_field, count));
    for (uint64_t i = 0; i < count && !in.error() && names_left_ != 0; ++i) {
      const Entry entry = read_entry(in, formats);
      if (!in.error()) use(entry);
    }
  }

  Entry read_entry(Cursor& in, const std::vector<Format>& formats) {
    Entry entry;
    for (const Format& format : formats) {
      const Value value = read_value(in, format.form);
      if (format.content == DW_LNCT_path) entry.name = value.text;
      if (format.content == DW_LNCT_directory_index) entry.folder = value.number;
      if (format.content == DW_LNCT_MD5 && value.block.size() == sizeof(Md5))
        std::memcpy(entry.checksum.emplace().data(), value.block.data(), sizeof(Md5));
    }
    return entry;
  }

  // The forms that DWARF 5 allows here (6.2.4.1), and the other blocks.
  Value read_value(Cursor& in, uint64_t form) {
    switch (form) {
      case DW_FORM_string:
        return {.text = read_text(in)};
      case DW_FORM_line_strp:
        return {.text = text_at(in, tables_.line_strings)};
      case DW_FORM_strp:
        return {.text = text_at(in, tables_.strings)};
      case DW_FORM_strp_sup:  // of another file
        read_offset(in, "DW_FORM_strp_sup");
        return {};
      case DW_FORM_udata:
        return {.number = read_leb(in)};
      case DW_FORM_data1:
        return {.number = in.read<uint8_t>("DW_FORM_data1")};
      case DW_FORM_data2:
        return {.number = in.read<uint16_t>("DW_FORM_data2")};
      case DW_FORM_data4:
        return {.number = in.read<uint32_t>("DW_FORM_data4")};
      case DW_FORM_data8:
        return {.number = in.read<uint64_t>("DW_FORM_data8")};
      case DW_FORM_data16:
        return {.block = in.take(sizeof(Md5), "DW_FORM_data16")};
      case DW_FORM_block:
        return {.block = in.take(read_leb(in), "DW_FORM_block")};
      case DW_FORM_block1:
        return {.block = in.take(in.read<uint8_t>("DW_FORM_block1"), "DW_FORM_block1")};
      case DW_FORM_block2:
        return {.block = in.take(in.read<uint16_t>("DW_FORM_block2"), "DW_FORM_block2")};
      case DW_FORM_block4:
        return {.block = in.take(in.read<uint32_t>("DW_FORM_block4"), "DW_FORM_block4")};
      default:
        in.fail(Error::Cause::bad_field, fmt::format("form {:#x}", form));
        return {};
    }
  }

  uint64_t read_offset(Cursor& in, std::string_view field) const {
    return is_wide_ ? in.read<uint64_t>(field) : in.read<uint32_t>(field);
  }

  static std::string_view read_text(Cursor& in) {
    const std::string_view rest = text_of(in.rest());
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      in.fail(Error::Cause::truncated, "DW_FORM_string does not end");
      return {};
    }
    in.take(end + 1, "DW_FORM_string");
    return rest.substr(0, end);
  }

  // Of more than the longest name, one byte more than that.
  std::string_view text_at(Cursor& in, Bytes section) {
    const uint64_t place = in.offset();
    const uint64_t offset = read_offset(in, "offset of a string");
    if (in.error()) return {};
    if (offset >= section.size()) {
      in.fail_at(place, Error::Cause::bad_field, fmt::format("no string is at {:#x}", offset));
      return {};
    }
    std::string_view text = text_of(section).substr(static_cast<size_t>(offset), kLongestName + 1);
    text = text.substr(0, text.find('\0'));
    charge(text.size());
    return text;
  }

  void add(const Entry& file) {
    if (!file.checksum || file.name.empty() || file.folder >= folders_.size()) return;
    std::vector<std::string_view> parts = {file.name};
    if (!file.name.starts_with('/')) {
      parts.insert(parts.begin(), folders_[static_cast<size_t>(file.folder)]);
      if (file.folder != 0 && !parts.front().starts_with('/'))
        parts.insert(parts.begin(), folders_.front());
    }
    size_t size = 0;
    for (const std::string_view part : parts) size += part.size() + 1;
    if (size > kLongestName) return;
    charge(size);
    std::string path;
    for (const std::string_view part : parts) path.append(path.empty() ? "" : "/").append(part);
    use_(plain_path(path), *file.checksum);
  }

  // Many entries can share one long name.
  void charge(uint64_t bytes) { names_left_ -= std::min(names_left_, bytes); }

  void tell(const Cursor& in) {
    if (names_left_ == 0) {
      problems_.add({Problem::Kind::oddity, in.offset(), tables_.file, ".debug_line",
                     "its names are much longer than itself", in.left()});
    } else if (in.error()) {
      problems_.add({Problem::Kind::oddity, in.error()->offset.value_or(0), tables_.file,
                     ".debug_line", in.error()->detail, 0});
    }
  }

  const LineTables& tables_;
  const UseSourceFile& use_;
  ProblemLog& problems_;
  uint64_t names_left_;  // bytes
  uint64_t length_ = 0;
  bool is_wide_ = false;
  std::vector<std::string_view> folders_;  // of the table
};

}  // namespace

void read_line_table_files(const LineTables& tables, const UseSourceFile& use,
                           ProblemLog& problems) {
  LineTableReader(tables, use, problems).read();
}

}  // namespace telltale
