#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"

namespace telltale {

using Bytes = std::span<const std::byte>;

// Reads raw bytes sequentially. The first failure sticks: later reads yield zero and do not
// advance, so a decoder reads all fields of a record and checks error() once. Holds a view; the
// bytes must outlive it. Safe on untrusted input.
class Cursor {
 public:
  // `file_offset` is the offset of bytes[0] in the file, for errors.
  explicit Cursor(Bytes bytes, std::endian order = std::endian::little, uint64_t file_offset = 0)
      : bytes_(bytes), order_(order), file_offset_(file_offset) {}

  // Names the record or field being read, for errors; static storage.
  void begin_record(std::string_view record) { record_ = record; }

  // An unsigned or signed integer in the cursor's byte order.
  template <std::integral T>
  T read(std::string_view field) {
    T value{};
    const Bytes raw = take(sizeof(T), field);
    if (raw.size() != sizeof(T)) return value;
    std::memcpy(&value, raw.data(), sizeof(T));
    if constexpr (sizeof(T) > 1) {
      if (order_ != std::endian::native) value = swap(value);
    }
    return value;
  }

  // The next n bytes; or none, and a sticky error, if fewer are left.
  Bytes take(uint64_t n, std::string_view field) {
    if (error_) return {};
    if (n > left()) {
      fail_truncated(n, field);
      return {};
    }
    const Bytes taken = bytes_.subspan(at_, static_cast<size_t>(n));
    at_ += static_cast<size_t>(n);
    return taken;
  }

  // A cursor over exactly the next n bytes, so that their decoder cannot read beyond them.
  Cursor split(uint64_t n, std::string_view field) {
    const uint64_t part_offset = offset();
    const Bytes part_bytes = take(n, field);
    Cursor part(part_bytes, order_, part_offset);
    part.record_ = record_;
    part.error_ = error_;
    return part;
  }

  [[nodiscard]] uint64_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] uint64_t offset() const { return file_offset_ + at_; }  // in the file
  [[nodiscard]] Bytes rest() const { return bytes_.subspan(at_); }
  [[nodiscard]] std::endian order() const { return order_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  // Records a failure at the current place, unless there was an earlier one.
  void fail(Error::Cause cause, std::string detail) { fail_at(offset(), cause, std::move(detail)); }
  void fail_at(uint64_t file_offset, Error::Cause cause, std::string detail);

 private:
  template <std::integral T>
  static T swap(T value) {
    if constexpr (sizeof(T) == 2)
      return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
    if constexpr (sizeof(T) == 4)
      return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
    if constexpr (sizeof(T) == 8)
      return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
    return value;
  }
  void fail_truncated(uint64_t needed, std::string_view field);

  Bytes bytes_;
  size_t at_ = 0;
  std::endian order_;
  uint64_t file_offset_;
  std::string_view record_;
  std::optional<Error> error_;
};

}  // namespace telltale
