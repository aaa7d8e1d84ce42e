#include "formats/sampler/counter_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace telltale::sampler {
namespace {

constexpr uint64_t kSlackRows = 1024;  // damaged rows that a short section may have
constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

unsigned digit(const char* at) {
  return static_cast<unsigned>(static_cast<unsigned char>(*at)) - unsigned{'0'};
}

constexpr uint64_t kEachByte = 0x0101010101010101;

// The number of digits at the beginning of a word that digits_of made: 8 if all are.
size_t count_digits(uint64_t digits) {
  // 0 to 9 become 0x76 to 0x7f; anything else has its highest bit then, or has it already.
  const uint64_t others = ((digits + kEachByte * 0x76) | digits) & (kEachByte * 0x80);
  return static_cast<size_t>(std::countr_zero(others)) / 8;
}

// The next eight characters, the first in the lowest byte: digits become 0 to 9, others more.
uint64_t digits_of(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word ^ (kEachByte * '0');
}

// The first `count` digits as a number, without a loop: neighbours are joined to pairs, pairs to
// fours, and these to the whole. REQUIRES: 1 <= count <= 8.
uint64_t join_digits(uint64_t digits, size_t count) {
  digits <<= 64 - 8 * count;  // zeros before the number
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ff;
  digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffff;
  return (digits * 10000 + (digits >> 32)) & 0xffffffff;
}

// Every run of digits is followed by another character, because a body ends with a line feed.
bool read_long_number(const char*& at, uint64_t& value) {
  unsigned next = digit(at);
  if (next > 9) return false;
  const char* const begin = at;
  uint64_t number = next;
  for (++at; (next = digit(at)) <= 9; ++at) number = number * 10 + next;
  if (at - begin > 19) {
    if (std::from_chars(begin, at, number).ec != std::errc()) return false;
  }
  value = number;
  return true;
}

// Lengths of numbers vary without a pattern, so a loop over the digits costs a mispredicted branch
// for almost every number.
bool read_number(const char*& at, const char* end, uint64_t& value) {
  if (std::endian::native != std::endian::little || end - at < 8) [[unlikely]]
    return read_long_number(at, value);
  const uint64_t digits = digits_of(at);
  const size_t count = count_digits(digits);
  if (count == 0 || count == 8) [[unlikely]]
    return read_long_number(at, value);
  value = join_digits(digits, count);
  at += count;
  return true;
}

bool read_row(const char*& at, const char* end, size_t arity, uint64_t* values) {
  for (size_t i = 0; i < arity; ++i) {
    if (!read_number(at, end, values[i])) return false;
    if (*at != (i + 1 == arity ? '\n' : '\t')) return false;
    ++at;
  }
  return true;
}

constexpr std::array<char, 2 * kMaxUnknownCounters> kBlankRow = [] {
  std::array<char, 2 * kMaxUnknownCounters> row{};
  for (size_t i = 0; i < row.size(); i += 2) {
    row[i] = '0';
    row[i + 1] = '\t';
  }
  return row;
}();

// "0<TAB>0<TAB>0<LF>": most sites of most runs. `kArity` 0: any.
template <size_t kArity>
bool is_blank_row(const char* at, const char* end) {
  if constexpr (kArity == 0) {
    return false;
  } else {
    return static_cast<size_t>(end - at) >= 2 * kArity &&
           std::memcmp(at, kBlankRow.data(), 2 * kArity - 1) == 0 && at[2 * kArity - 1] == '\n';
  }
}

void note_bad_row(RowTally& tally, uint64_t row, size_t offset) {
  if (tally.bad_rows.empty()) tally.first_bad = offset;
  tally.bad_rows.push_back(row);
}

const char* next_line(const char* at, const char* end) {
  const void* feed = std::memchr(at, '\n', static_cast<size_t>(end - at));
  return feed == nullptr ? end : static_cast<const char*>(feed) + 1;
}

uint64_t count_lines(std::string_view body) {
  return static_cast<uint64_t>(std::ranges::count(body, '\n'));
}

// REQUIRES: sums has space for `rows` rows, and the body has at least as many.
template <size_t kArity>
void add_rows(std::string_view body, size_t arity, uint64_t rows, uint64_t* sums, RowTally& tally) {
  const size_t width = kArity == 0 ? arity : kArity;
  std::array<uint64_t, kArity == 0 ? kMaxUnknownCounters : kArity> values{};
  const char* at = body.data();
  const char* const end = at + body.size();
  for (uint64_t row = 0; row < rows; ++row, sums += width) {
    const char* const begin = at;
    if (is_blank_row<kArity>(at, end)) {
      at += 2 * kArity;
      continue;
    }
    if (!read_row(at, end, width, values.data())) [[unlikely]] {
      note_bad_row(tally, row, static_cast<size_t>(begin - body.data()));
      at = next_line(begin, end);
      continue;
    }
    for (size_t i = 0; i < width; ++i) {
      if (__builtin_add_overflow(sums[i], values[i], &sums[i])) [[unlikely]] {
        sums[i] = kLargest;
        ++tally.saturated;
      }
    }
  }
}

template <size_t kArity>
void observe_rows(std::string_view body, size_t arity, std::span<uint16_t> counted,
                  RowTally& tally) {
  const size_t width = kArity == 0 ? arity : kArity;
  std::array<uint64_t, kArity == 0 ? kMaxUnknownCounters : kArity> values{};
  const char* at = body.data();
  const char* const end = at + body.size();
  for (; at != end; ++tally.rows) {
    if (is_blank_row<kArity>(at, end)) {
      at += 2 * kArity;
      continue;
    }
    const char* const begin = at;
    if (tally.rows >= counted.size()) {
      at = next_line(begin, end);
      continue;
    }
    if (!read_row(at, end, width, values.data())) [[unlikely]] {
      note_bad_row(tally, tally.rows, static_cast<size_t>(begin - body.data()));
      at = next_line(begin, end);
      continue;
    }
    unsigned bits = 0;
    for (size_t i = 0; i < width; ++i) bits |= (values[i] != 0 ? 1U : 0U) << i;
    uint16_t& row = counted[static_cast<size_t>(tally.rows)];
    row = static_cast<uint16_t>(row | bits);
  }
}

std::optional<Bounds> parse_bounds(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const std::optional<BoundValue> minimum = parse_bound(line.substr(0, tab));
  const std::optional<BoundValue> maximum = parse_bound(line.substr(tab + 1));
  if (!minimum || !maximum) return std::nullopt;
  return Bounds{*minimum, *maximum};
}

}  // namespace

RowTally add_counters(std::string_view body, size_t arity, std::vector<uint64_t>& sums,
                      uint64_t max_rows) {
  RowTally tally;
  tally.rows = count_lines(body);
  const uint64_t wanted = std::min(tally.rows, max_rows);
  const uint64_t room = std::max<uint64_t>(body.size() / arity + kSlackRows, sums.size() / arity);
  const uint64_t rows = std::min(wanted, room);
  tally.unread = wanted - rows;
  if (sums.size() < rows * arity) sums.resize(rows * arity);
  switch (arity) {
    case 1:
      add_rows<1>(body, arity, rows, sums.data(), tally);
      break;
    case 2:
      add_rows<2>(body, arity, rows, sums.data(), tally);
      break;
    case 3:
      add_rows<3>(body, arity, rows, sums.data(), tally);
      break;
    case 4:
      add_rows<4>(body, arity, rows, sums.data(), tally);
      break;
    case 9:
      add_rows<9>(body, arity, rows, sums.data(), tally);
      break;
    default:
      add_rows<0>(body, arity, rows, sums.data(), tally);
  }
  return tally;
}

RowTally observe_counters(std::string_view body, size_t arity, std::span<uint16_t> counted) {
  RowTally tally;
  switch (arity) {
    case 1:
      observe_rows<1>(body, arity, counted, tally);
      break;
    case 2:
      observe_rows<2>(body, arity, counted, tally);
      break;
    case 3:
      observe_rows<3>(body, arity, counted, tally);
      break;
    default:
      observe_rows<0>(body, arity, counted, tally);
  }
  return tally;
}

bool less(const BoundValue& a, const BoundValue& b) {
  const bool a_negative = a.form == BoundValue::Form::negative;
  const bool b_negative = b.form == BoundValue::Form::negative;
  if (a_negative != b_negative) return a_negative;
  return a.bits < b.bits;  // also for two negative ones
}

std::optional<BoundValue> parse_bound(std::string_view text) {
  using Form = BoundValue::Form;
  if (text == "(nil)") return BoundValue{Form::pointer, 0};
  const bool hex = text.starts_with("0x");
  const bool negative = text.starts_with("-");
  std::string_view digits = text.substr(hex ? 2 : negative ? 1 : 0);
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!negative) return BoundValue{hex ? Form::pointer : Form::unsigned_number, number};
  constexpr uint64_t kMostNegative = uint64_t{1} << 63;
  if (number == 0 || number > kMostNegative) return std::nullopt;
  return BoundValue{Form::negative, ~number + 1};
}

std::string to_string(const BoundValue& value) {
  switch (value.form) {
    case BoundValue::Form::negative:
      return fmt::format("{}", static_cast<int64_t>(value.bits));
    case BoundValue::Form::pointer:
      return value.bits == 0 ? "(nil)" : fmt::format("{:#x}", value.bits);
    case BoundValue::Form::unsigned_number:
      return fmt::format("{}", value.bits);
    case BoundValue::Form::none:
      break;
  }
  return "";
}

RowTally merge_bounds(std::string_view body, std::vector<Bounds>& bounds, uint64_t max_rows) {
  RowTally tally;
  tally.rows = count_lines(body);
  const uint64_t rows = std::min(tally.rows, max_rows);
  if (bounds.size() < rows) bounds.resize(rows);
  uint64_t row = 0;
  for_each_line(body, [&](std::string_view line, size_t offset) {
    if (row == rows) return;
    const std::optional<Bounds> read = parse_bounds(line);
    if (!read) {
      note_bad_row(tally, row++, offset);
      return;
    }
    Bounds& merged = bounds[row++];
    const bool first = merged.minimum.form == BoundValue::Form::none;
    if (first || less(read->minimum, merged.minimum)) merged.minimum = read->minimum;
    if (first || less(merged.maximum, read->maximum)) merged.maximum = read->maximum;
  });
  return tally;
}

RowTally merge_timestamps(std::string_view body, bool first, std::vector<uint64_t>& times,
                          uint64_t max_rows) {
  std::vector<uint64_t> own;
  RowTally tally = add_counters(body, 1, own, max_rows);
  if (times.size() < own.size()) times.resize(own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    const bool earlier = times[i] == 0 || own[i] < times[i];
    if (own[i] != 0 && (first ? earlier : own[i] > times[i])) times[i] = own[i];
  }
  return tally;
}

size_t columns_of_first_row(std::string_view body) {
  if (body.empty()) return 0;
  const std::string_view line = body.substr(0, body.find('\n'));
  return static_cast<size_t>(std::ranges::count(line, '\t')) + 1;
}

std::optional<uint64_t> parse_unsigned(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace telltale::sampler
