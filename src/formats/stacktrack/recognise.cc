#include "formats/stacktrack/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/stacktrack/records.h"
#include "formats/stacktrack/wire.h"

namespace telltale::stacktrack {
namespace {

// The search for a PROLOGUE ends this far into a stream.
constexpr size_t kSearchedBytes = size_t{64} << 10;
constexpr std::endian kOrders[] = {std::endian::little, std::endian::big};

// A field of PROLOGUE agrees with the description, or the platform does not have it.
bool agrees(const Record& record, Role role, uint64_t expected) {
  const Place& place = record.description().place(RecordKind::prologue, role);
  if (!place.known()) return true;
  // The sizes are chars: larger values are truncated.
  const uint64_t mask = place.size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * place.size)) - 1;
  return record.number(RecordKind::prologue, role) == (expected & mask);
}

bool is_prologue(const Record& record) {
  const FormatDescription& d = record.description();
  return record.is(RecordKind::prologue) && agrees(record, Role::magic, d.magic) &&
         agrees(record, Role::version, d.version) &&
         agrees(record, Role::info_length, d.info_bytes()) &&
         agrees(record, Role::entry_size, d.entry_size) &&
         agrees(record, Role::payload_offset, d.payload_offset);
}

// The start of the first PROLOGUE of this layout and byte order.
std::optional<uint64_t> find_prologue(Bytes file, const FormatDescription& description) {
  const Place& magic = description.place(RecordKind::prologue, Role::magic);
  std::string pattern(magic.size, '\0');
  store_integer(pattern.data(), description.magic, magic.size, description.order);
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              std::min(file.size(), kSearchedBytes));
  for (size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, at + 1)) {
    if (at < magic.offset || description.entry_size > file.size() - (at - magic.offset)) continue;
    const size_t begin = at - magic.offset;
    if (is_prologue(Record(description, file.subspan(begin, description.entry_size), begin)))
      return begin;
  }
  return std::nullopt;
}

// Whether the first records are plausible without a PROLOGUE: known types and flags, a process id,
// and sequence numbers that are near one another.
bool makes_sense(Bytes file, const FormatDescription& description) {
  constexpr size_t kRecords = 64;
  constexpr size_t kFewest = 4;
  constexpr uint64_t kNear = uint64_t{1} << 20;
  const size_t records = std::min(kRecords, file.size() / description.entry_size);
  size_t used = 0;
  size_t hits = 0;
  size_t jumps = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < records; ++i) {
    const uint64_t at = uint64_t{i} * description.entry_size;
    const Record record(description, file.subspan(at, description.entry_size), at);
    if (record.is_unused()) continue;
    if (!record.kind() || record.pid() == 0 ||
        (record.flags() & ~(description.compiled.known_flags | 0xff)) != 0)
      return false;
    const uint64_t sequence = record.sequence();
    if (used != 0 && std::max(sequence, last) - std::min(sequence, last) > kNear) ++jumps;
    last = sequence;
    hits += record.is(RecordKind::hit) ? 1 : 0;
    ++used;
  }
  return used >= kFewest && hits != 0 && jumps * 4 <= used;
}

struct Foreign {
  uint64_t version = 0;
  uint64_t entry_size = 0;
};

// A PROLOGUE of any layout at the very start with consistent fields: its own payload is where it
// says that payloads are.
std::optional<Foreign> foreign_prologue(Bytes file) {
  for (const std::endian order : kOrders) {
    for (size_t at = 4; at <= 64; at += 4) {
      if (file.size() < at + 11 || load_unsigned(file, at, 4, order) != kMagic) continue;
      const uint64_t entry_size = load_unsigned(file, at + 9, 1, order);
      if (load_unsigned(file, at + 10, 1, order) != at || entry_size <= at) continue;
      return Foreign{load_unsigned(file, at + 4, 4, order), entry_size};
    }
  }
  return std::nullopt;
}

std::optional<StreamFormat> find_format(Bytes file) {
  std::optional<StreamFormat> found;
  for (const Layout layout : {Layout::classic, Layout::wide}) {
    for (const std::endian order : kOrders) {
      const FormatDescription& description = known_layout(layout, order);
      const std::optional<uint64_t> prologue = find_prologue(file, description);
      // The first PROLOGUE of any layout decides.
      if (!prologue || (found && found->first_record <= *prologue)) continue;
      found = StreamFormat{description, *prologue, true};
    }
  }
  if (found) {
    found->first_record %= found->description.entry_size;
    return found;
  }
  if (foreign_prologue(file)) return std::nullopt;
  for (const Layout layout : {Layout::wide, Layout::classic}) {
    for (const std::endian order : kOrders) {
      const FormatDescription& description = known_layout(layout, order);
      if (makes_sense(file, description)) return StreamFormat{description, 0, false};
    }
  }
  return std::nullopt;
}

}  // namespace

bool looks_like_records(Bytes file) { return find_format(file) || foreign_prologue(file); }

Result<StreamFormat> recognise(Bytes file) {
  if (std::optional<StreamFormat> found = find_format(file)) return std::move(*found);
  if (const std::optional<Foreign> foreign = foreign_prologue(file)) {
    return std::unexpected(
        Error{Error::Cause::unsupported_version,
              {},
              "PROLOGUE",
              fmt::format("version {:#x} with entries of {} bytes is not a known layout; give its "
                          "RAW_FORMAT with --format-description",
                          foreign->version, foreign->entry_size),
              0});
  }
  return std::unexpected(
      Error{Error::Cause::bad_magic, {}, {}, "these are no StackTrack records", 0});
}

StreamFormat recognise(Bytes file, const FormatDescription& platform) {
  StreamFormat format{platform, 0, false};
  for (const std::endian order : kOrders) {
    FormatDescription turned = platform;
    turned.order = order;
    const std::optional<uint64_t> prologue = find_prologue(file, turned);
    if (!prologue || (format.has_prologue && format.first_record <= *prologue)) continue;
    format = {std::move(turned), *prologue, true};
  }
  format.first_record %= platform.entry_size;
  return format;
}

}  // namespace telltale::stacktrack
