// The xray_instr_map and xray_fn_idx sections of ELF files; layouts in
// docs/formats/xray-instrumentation-map.md.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "program/elf_fields.h"
#include "program/elf_image.h"
#include "program/instrumentation_map.h"

namespace telltale {

namespace {

constexpr std::string_view kMapSection = "xray_instr_map";
constexpr std::string_view kIndexSection = "xray_fn_idx";
constexpr uint8_t kLastAbsoluteVersion = 1;
constexpr uint8_t kRelativeVersion = 2;

struct RawEntry {
  uint64_t address = 0;
  uint64_t function = 0;
  uint8_t kind = 0;
  uint8_t always_instrument = 0;
  uint8_t version = 0;
};

struct IndexEntry {
  std::optional<ElfPlace> begin;
  uint64_t sleds = 0;
};

}  // namespace

class InstrumentationMapReader {
 public:
  InstrumentationMapReader(const ElfImage& image, ProblemLog& problems)
      : image_(image), problems_(problems) {}

  Result<InstrumentationMap> read() {
    if (auto found = find_sections(); !found) return std::unexpected(found.error());
    if (map_sections_.empty()) return std::move(map_);
    std::vector<uint32_t> all = map_sections_;
    all.insert(all.end(), index_sections_.begin(), index_sections_.end());
    std::ranges::sort(all);
    Result<ElfFields> fields = ElfFields::collect(image_, all);
    if (!fields) return std::unexpected(fields.error());
    fields_ = &*fields;
    map_.section_count_ = map_sections_.size();
    for (const uint32_t index : map_sections_) read_map(image_.sections()[index]);
    if (entries_ != 0 && unknown_versions_ == entries_) {
      const ElfSection& first = image_.sections()[map_sections_.front()];
      return std::unexpected(
          Error{Error::Cause::unsupported_version, image_.file(), std::string(kMapSection),
                "no entry has one of the known versions 0, 1 and 2", first.offset});
    }
    map_.group_functions();
    check_index();
    return std::move(map_);
  }

 private:
  [[nodiscard]] uint64_t word_size() const { return image_.is_64_bit() ? 8 : 4; }
  [[nodiscard]] uint64_t entry_size() const { return 4 * word_size(); }
  uint64_t read_word(Cursor& in) const {
    return image_.is_64_bit() ? in.read<uint64_t>("address") : in.read<uint32_t>("address");
  }
  // 32-bit programs compute addresses modulo 2^32, and their distances are signed words.
  [[nodiscard]] uint64_t wrap(uint64_t address) const {
    return image_.is_64_bit() ? address : address & 0xffffffffU;
  }

  void problem(Problem::Kind kind, uint64_t offset, std::string_view record, std::string message,
               uint64_t lost = 0) {
    problems_.add({kind, offset, image_.file(), std::string(record), std::move(message), lost});
  }

  Result<void> find_sections() {
    uint64_t budget = image_.size();
    for (const ElfSection& section : image_.sections()) {
      const bool is_map = section.name == kMapSection;
      if (!is_map && section.name != kIndexSection) continue;
      if (section.type == SHT_NOBITS && is_map && section.size != 0) {
        return std::unexpected(
            Error{Error::Cause::truncated, image_.file(), std::string(kMapSection),
                  "has no bytes here: this is a separate debug file; name the program itself",
                  section.offset});
      }
      if (section.type == SHT_NOBITS || section.type == SHT_NULL) continue;
      if (section.size > budget) {
        return std::unexpected(Error{Error::Cause::limit, image_.file(), std::string(section.name),
                                     "sections overlap: together they are larger than the file",
                                     section.offset});
      }
      budget -= section.size;
      (is_map ? map_sections_ : index_sections_).push_back(section.index);
    }
    return {};
  }

  RawEntry read_entry(Cursor& in) const {
    RawEntry entry;
    entry.address = read_word(in);
    entry.function = read_word(in);
    entry.kind = in.read<uint8_t>("kind");
    entry.always_instrument = in.read<uint8_t>("always-instrument");
    entry.version = in.read<uint8_t>("version");
    in.take(2 * word_size() - 3, "padding");  // any value is allowed
    return entry;
  }

  void read_map(const ElfSection& section) {
    const uint64_t count = section.size / entry_size();
    const uint64_t tail = section.size % entry_size();
    if (tail != 0) {
      problem(Problem::Kind::corruption, section.offset + count * entry_size(), kMapSection,
              fmt::format("the section ends inside an entry: {} bytes of {}", tail, entry_size()),
              tail);
    }
    Cursor in = image_.cursor(section);
    map_.sleds_.reserve(map_.sleds_.size() + count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t file_offset = in.offset();
      RawEntry entry = read_entry(in);
      ++entries_;
      if (entry.version > kRelativeVersion) {
        ++unknown_versions_;
        problem(Problem::Kind::corruption, file_offset, kMapSection,
                fmt::format("version {} is unknown; the entry is read as version {}", entry.version,
                            version_));
        entry.version = version_;
      }
      version_ = entry.version;
      add_sled(section, i * entry_size(), file_offset, entry);
    }
  }

  void add_sled(const ElfSection& section, uint64_t at, uint64_t file_offset,
                const RawEntry& entry) {
    const bool relative = entry.version > kLastAbsoluteVersion;
    const auto address = fields_->resolve(section, at, entry.address, relative);
    const auto function = fields_->resolve(section, at + word_size(), entry.function, relative);
    if (!address || !function) {
      problem(
          Problem::Kind::loss, file_offset, kMapSection,
          fmt::format(
              "an address needs a relocation of {} that is not resolved here; link the file first",
              image_.machine_name()),
          entry_size());
      return;
    }
    Sled sled;
    sled.address = wrap(address->address);
    sled.function = wrap(function->address);
    sled.function_section = function->section;
    sled.kind = static_cast<SledKind>(entry.kind);
    sled.always_instrument = entry.always_instrument != 0;
    sled.version = entry.version;
    const bool same = !map_.sleds_.empty() && map_.sleds_.back().function == sled.function &&
                      map_.sleds_.back().function_section == sled.function_section;
    if (!same) {
      first_entries_.push_back(image_.is_object_file() ? ElfPlace{at, section.index}
                                                       : ElfPlace{section.address + at, 0});
    }
    sled.function_id = static_cast<uint32_t>(first_entries_.size());
    map_.sleds_.push_back(sled);
  }

  // One entry of xray_fn_idx: {begin, end} as absolute addresses until LLVM 16, since then {begin
  // relative to the field, number of sleds}. No field distinguishes the two; they are told apart by
  // which one lies inside the map.
  IndexEntry read_index_entry(const ElfSection& section, uint64_t at, uint64_t first,
                              uint64_t second) const {
    const auto end = fields_->resolve(section, at + word_size(), second, false);
    const auto begin = fields_->resolve(section, at, first, false);
    if (begin && end && begin->section == end->section && end->address > begin->address &&
        in_map(*begin)) {
      return {begin, (end->address - begin->address) / entry_size()};
    }
    return {fields_->resolve(section, at, first, true), second};
  }

  [[nodiscard]] bool in_map(const ElfPlace& place) const {
    if (image_.is_object_file()) return place.section != 0;
    for (const uint32_t index : map_sections_) {
      const ElfSection& section = image_.sections()[index];
      if (place.address >= section.address && place.address - section.address < section.size)
        return true;
    }
    return false;
  }

  void check_index() {
    size_t at_function = 0;
    size_t mismatches = 0;
    uint64_t first_mismatch = 0;
    std::string first_message;
    for (const uint32_t index : index_sections_) {
      const ElfSection& section = image_.sections()[index];
      Cursor in = image_.cursor(section);
      while (in.left() >= 2 * word_size()) {
        const uint64_t at = in.offset() - section.offset;
        const uint64_t first = read_word(in);
        const uint64_t second = read_word(in);
        const IndexEntry entry = read_index_entry(section, at, first, second);
        std::string message = compare(entry, at_function++);
        if (message.empty()) continue;
        if (mismatches++ == 0) {
          first_mismatch = section.offset + at;
          first_message = std::move(message);
        }
      }
    }
    if (!index_sections_.empty() && at_function != map_.functions_.size() && mismatches++ == 0) {
      first_mismatch = image_.sections()[index_sections_.front()].offset;
      first_message =
          fmt::format("has {}, the map has {}",
                      at_function == 1 ? "1 entry" : fmt::format("{} entries", at_function),
                      counted(map_.functions_.size(), "function"));
    }
    if (mismatches == 0) return;
    problem(Problem::Kind::oddity, first_mismatch, kIndexSection,
            fmt::format("disagrees with the map in {}; the first: {}", counted(mismatches, "place"),
                        first_message));
  }

  // Empty if the entry for function number `at` (from 0) agrees with the map.
  [[nodiscard]] std::string compare(const IndexEntry& entry, size_t at) const {
    if (at >= map_.functions_.size()) return fmt::format("function {} is not in the map", at + 1);
    const InstrumentedFunction& function = map_.functions_[at];
    if (!entry.begin || *entry.begin != first_entries_[at]) {
      return fmt::format("function {} does not begin at the address in the index", function.id);
    }
    if (entry.sleds != function.sled_count) {
      return fmt::format("function {} has {} sleds according to the index, {} in the map",
                         function.id, entry.sleds, function.sled_count);
    }
    return {};
  }

  const ElfImage& image_;
  ProblemLog& problems_;
  InstrumentationMap map_;
  const ElfFields* fields_ = nullptr;
  std::vector<uint32_t> map_sections_;
  std::vector<uint32_t> index_sections_;
  std::vector<ElfPlace> first_entries_;  // by function: the place of its first entry
  uint64_t entries_ = 0;
  uint64_t unknown_versions_ = 0;
  uint8_t version_ = kRelativeVersion;  // of the previous entry
};

Result<InstrumentationMap> InstrumentationMap::read_elf(const ElfImage& image,
                                                        ProblemLog& problems) {
  return InstrumentationMapReader(image, problems).read();
}

}  // namespace telltale
