#include "formats/stacktrack/records.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telltale::stacktrack {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// Units per second of the second half of a two-part time.
uint64_t parts_of(TimeForm form) { return form == TimeForm::timespec ? 1'000'000'000 : 1'000'000; }

bool has_two_parts(TimeForm form) {
  return form == TimeForm::timespec || form == TimeForm::timeval;
}

}  // namespace

std::string_view Record::text() const {
  const Place& place = description_->place(RecordKind::info, Role::text);
  if (place.size == 0) return {};
  std::string_view text(reinterpret_cast<const char*>(raw_.data()) + place.offset, place.size);
  // Only the last fragment is shorter than its field.
  while (info_end() && text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

RawTime Record::read_time(const Place& place) const {
  const std::endian order = description_->order;
  if (!has_two_parts(description_->time_form)) return {read(place), 0};
  const uint32_t half = place.size / 2;
  return {load_unsigned(raw_, place.offset, half, order),
          load_unsigned(raw_, place.offset + half, half, order)};
}

double to_double(RawTime time, const FormatDescription& description) {
  switch (description.time_form) {
    case TimeForm::integer:
      return static_cast<double>(time.first);
    case TimeForm::real:
      return description.place(RecordKind::hit, Role::when).size == 4
                 ? double{std::bit_cast<float>(static_cast<uint32_t>(time.first))}
                 : std::bit_cast<double>(time.first);
    case TimeForm::timespec:
    case TimeForm::timeval:
      return static_cast<double>(time.first) *
                 static_cast<double>(parts_of(description.time_form)) +
             static_cast<double>(time.second);
  }
  return 0;
}

std::optional<uint64_t> to_ticks(RawTime time, const FormatDescription& description) {
  if (description.time_form == TimeForm::real) return std::nullopt;
  if (!has_two_parts(description.time_form)) return time.first;
  const uint64_t parts = parts_of(description.time_form);
  uint64_t ticks = 0;
  if (__builtin_mul_overflow(time.first, parts, &ticks) ||
      __builtin_add_overflow(ticks, time.second, &ticks))
    return kMost;
  return ticks;
}

RawTime from_ticks(uint64_t ticks, const FormatDescription& description) {
  switch (description.time_form) {
    case TimeForm::integer:
      return {ticks, 0};
    case TimeForm::real:
      return {description.place(RecordKind::hit, Role::when).size == 4
                  ? std::bit_cast<uint32_t>(static_cast<float>(ticks))
                  : std::bit_cast<uint64_t>(static_cast<double>(ticks)),
              0};
    case TimeForm::timespec:
    case TimeForm::timeval: {
      const uint64_t parts = parts_of(description.time_form);
      return {ticks / parts, ticks % parts};
    }
  }
  return {};
}

RecordBuilder::RecordBuilder(const FormatDescription& description, RecordKind kind, Bytes base)
    : description_(description),
      kind_(kind),
      bytes_(reinterpret_cast<const char*>(base.data()), base.size()) {
  bytes_.resize(description.entry_size, '\0');
  flags(0);
}

void RecordBuilder::put(const Place& place, uint64_t value) {
  if (!place.known()) return;
  if (place.size < 8 && (value >> (8 * place.size)) != 0) fits_ = false;
  store_integer(bytes_.data() + place.offset, value, place.size, description_.order);
}

RecordBuilder& RecordBuilder::flags(uint32_t bits) {
  const auto index =
      static_cast<uint32_t>(description_.compiled.index[static_cast<size_t>(kind_)]) & 0xff;
  put(description_.compiled.flags, (bits & ~uint32_t{0xff}) | index);
  return *this;
}
RecordBuilder& RecordBuilder::pid(uint64_t value) {
  put(description_.compiled.pid, value);
  return *this;
}
RecordBuilder& RecordBuilder::sequence(uint64_t value) {
  put(description_.compiled.sequence, value);
  return *this;
}
RecordBuilder& RecordBuilder::stream(uint64_t value) {
  put(description_.compiled.stream, value);
  return *this;
}
RecordBuilder& RecordBuilder::number(Role role, uint64_t value) {
  put(description_.place(kind_, role), value);
  return *this;
}
RecordBuilder& RecordBuilder::time(Role role, RawTime value) {
  const Place& place = description_.place(kind_, role);
  if (!has_two_parts(description_.time_form)) {
    put(place, value.first);
    return *this;
  }
  const uint32_t half = place.size / 2;
  put({place.offset, half, MemberForm::unsigned_integer}, value.first);
  put({place.offset + half, half, MemberForm::unsigned_integer}, value.second);
  return *this;
}
RecordBuilder& RecordBuilder::text(std::string_view text) {
  const Place& place = description_.place(kind_, Role::text);
  if (text.size() > place.size) fits_ = false;
  text = text.substr(0, place.size);
  std::fill_n(bytes_.begin() + place.offset, place.size, '\0');
  std::ranges::copy(text, bytes_.begin() + place.offset);
  return *this;
}

}  // namespace telltale::stacktrack
