#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"
#include "bytes/fixed_field.h"
#include "formats/stacktrack/format_description.h"

namespace telltale::stacktrack {

// A raw hitime_t. `first` contains integers and the bits of a floating-point number; of two-part
// forms the seconds.
struct RawTime {
  uint64_t first = 0;
  uint64_t second = 0;
};

// One record in the file: a view whose fields are read on request, by the description. The bytes
// and the description must outlive it.
class Record {
 public:
  // REQUIRES: raw.size() == description.entry_size; the description is compiled.
  Record(const FormatDescription& description, Bytes raw, uint64_t offset)
      : description_(&description),
        raw_(raw),
        offset_(offset),
        flags_(static_cast<uint32_t>(read(description.compiled.flags))) {}

  [[nodiscard]] uint64_t offset() const { return offset_; }  // in the file
  [[nodiscard]] Bytes raw() const { return raw_; }
  [[nodiscard]] const FormatDescription& description() const { return *description_; }
  [[nodiscard]] uint32_t flags() const { return flags_; }
  [[nodiscard]] uint64_t pid() const { return read(description_->compiled.pid); }
  [[nodiscard]] uint64_t sequence() const { return read(description_->compiled.sequence); }
  // 0 if the platform has none.
  [[nodiscard]] uint64_t stream() const { return read(description_->compiled.stream); }

  // The platform's type; null if it has none with that index.
  [[nodiscard]] const TypeLayout* type() const {
    const int16_t position = description_->compiled.position[flags_ & 0xff];
    return position < 0 ? nullptr : &description_->types[static_cast<size_t>(position)];
  }
  // Empty: the platform's own, or unknown.
  [[nodiscard]] std::optional<RecordKind> kind() const {
    const int16_t kind = description_->compiled.kind[flags_ & 0xff];
    if (kind < 0) return std::nullopt;
    return static_cast<RecordKind>(kind);
  }
  [[nodiscard]] bool is(RecordKind kind) const {
    return description_->compiled.kind[flags_ & 0xff] == static_cast<int16_t>(kind);
  }
  // No process has number 0: nothing was ever committed here. Files that are mapped before they are
  // filled have such places.
  [[nodiscard]] bool is_unused() const { return flags_ == 0 && pid() == 0 && stream() == 0; }
  [[nodiscard]] bool has_info() const { return (flags_ & description_->compiled.has_info) != 0; }
  [[nodiscard]] bool info_end() const { return (flags_ & description_->compiled.info_end) != 0; }
  [[nodiscard]] bool is_exit() const { return (flags_ & description_->compiled.exit) != 0; }
  [[nodiscard]] bool held_time() const { return (flags_ & description_->compiled.held_time) != 0; }

  // A number of the record's payload as an unsigned integer of its size; 0 if it has none.
  [[nodiscard]] uint64_t number(RecordKind kind, Role role) const {
    return read(description_->place(kind, role));
  }
  [[nodiscard]] RawTime time(RecordKind kind, Role role) const {
    return read_time(description_->place(kind, role));
  }
  // INFO's text; for the last fragment without the trailing zero bytes.
  [[nodiscard]] std::string_view text() const;

  // Any member of the type, or (offset relative to the entry's start) of the header.
  [[nodiscard]] uint64_t member(const Member& member) const { return read(place_of(member)); }
  [[nodiscard]] int64_t signed_member(const Member& member) const {
    return load_signed(raw_, place_of(member).offset, member.size, description_->order);
  }
  [[nodiscard]] RawTime time_member(const Member& member) const {
    return read_time(place_of(member));
  }
  [[nodiscard]] Bytes bytes_of(const Member& member) const {
    return raw_.subspan(place_of(member).offset, member.size);
  }

 private:
  [[nodiscard]] uint64_t read(const Place& place) const {
    return load_unsigned(raw_, place.offset, place.size, description_->order);
  }
  [[nodiscard]] RawTime read_time(const Place& place) const;
  [[nodiscard]] Place place_of(const Member& member) const {
    return {description_->payload_offset + member.offset, member.size, member.form};
  }

  const FormatDescription* description_;
  Bytes raw_;
  uint64_t offset_;
  uint32_t flags_;
};

// Times as numbers. Ticks of the integer form are exact.
double to_double(RawTime time, const FormatDescription& description);
// Two-part forms in their smaller unit, integers as they are; saturates. Empty for the real form.
std::optional<uint64_t> to_ticks(RawTime time, const FormatDescription& description);
RawTime from_ticks(uint64_t ticks, const FormatDescription& description);

// Builds a record over zeros, or over the bytes of another record, whose unused bytes are kept.
class RecordBuilder {
 public:
  // `kind` must be one that the platform has. `base`: empty, or entry_size bytes.
  RecordBuilder(const FormatDescription& description, RecordKind kind, Bytes base = {});

  // Each returns the builder; a number that does not fit its field is remembered for fits(). Fields
  // that the platform does not have are silently omitted: the caller decides whether that is a
  // loss.
  RecordBuilder& flags(uint32_t bits);  // above the type's index, which is always set
  RecordBuilder& pid(uint64_t value);
  RecordBuilder& sequence(uint64_t value);
  RecordBuilder& stream(uint64_t value);
  RecordBuilder& number(Role role, uint64_t value);
  RecordBuilder& time(Role role, RawTime value);
  // At most info_bytes(); the rest is zeros.
  RecordBuilder& text(std::string_view text);

  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void put(const Place& place, uint64_t value);

  const FormatDescription& description_;
  RecordKind kind_;
  std::string bytes_;
  bool fits_ = true;
};

}  // namespace telltale::stacktrack
