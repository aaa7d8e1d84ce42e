#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "bytes/cursor.h"
#include "bytes/leb_word.h"

namespace telltale {

// Reads streams of bytes, LEB128 numbers and zero-terminated strings, as Cursor reads fixed-width
// fields. The first failure sticks: later reads yield zero and do not advance. Holds a view. Safe
// on untrusted input.
class LebCursor {
 public:
  enum class Failure : uint8_t {
    none,
    truncated,  // the bytes end inside the field
    too_long,   // a number of more than ten bytes
    rejected,   // by the caller: fail()
  };

  explicit LebCursor(Bytes bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())),
        at_(begin_),
        end_(begin_ + bytes.size()) {}

  [[gnu::always_inline]] uint8_t byte(const char* field) {
    if (at_ == end_) [[unlikely]] {
      fail(Failure::truncated, field);
      return 0;
    }
    return *at_++;
  }
  // Unsigned, up to 64 bits; further bits of the ten bytes are dropped.
  [[gnu::always_inline]] uint64_t uleb(const char* field) {
    if (at_ != end_ && *at_ < 0x80) [[likely]]
      return *at_++;
    return long_leb(field).value;
  }
  // Signed: bit 6 of the last byte is the sign.
  [[gnu::always_inline]] int64_t sleb(const char* field) {
    if (at_ != end_ && *at_ < 0x80) [[likely]]
      return static_cast<int64_t>(static_cast<uint64_t>(*at_++) << 57) >> 57;
    const Leb leb = long_leb(field);
    if (leb.bits == 0 || leb.bits >= 64) return static_cast<int64_t>(leb.value);  // 0: failed
    return static_cast<int64_t>(sign_extended(leb.value, leb.bits));
  }
  // Up to a zero byte, which is skipped and not included. A view of the input.
  std::string_view text(const char* field) {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      fail(Failure::truncated, field);
      return {};
    }
    const std::string_view found(reinterpret_cast<const char*>(at_),
                                 static_cast<size_t>(static_cast<const uint8_t*>(zero) - at_));
    at_ += found.size() + 1;
    return found;
  }
  // IEEE 754, eight bytes, little-endian.
  double f64(const char* field) {
    uint64_t bits = 0;
    if (left() < sizeof bits) {
      fail(Failure::truncated, field);
      return 0;
    }
    for (unsigned i = 0; i < sizeof bits; ++i) bits |= uint64_t{at_[i]} << (8 * i);
    at_ += sizeof bits;
    return std::bit_cast<double>(bits);
  }

  // Records a failure, unless there was an earlier one; later reads do not advance.
  void fail(Failure failure, const char* field) {
    if (failure_ != Failure::none) return;
    failure_ = failure;
    field_ = field;
    end_ = at_;
  }
  [[nodiscard]] bool ok() const { return failure_ == Failure::none; }
  [[nodiscard]] Failure failure() const { return failure_; }
  [[nodiscard]] const char* failed_field() const { return field_; }
  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // Moves to a place that position() returned, also after a failure.
  void seek(size_t position) { at_ = begin_ + position; }
  // Moves to a place between data() and data() + left().
  void seek_to(const uint8_t* at) { at_ = at; }
  [[nodiscard]] const uint8_t* data() const { return at_; }

 private:
  struct Leb {
    uint64_t value = 0;
    unsigned bits = 0;  // encoded in its bytes
  };
  [[gnu::noinline]] Leb long_leb(const char* field) {
    if (left() >= sizeof(uint64_t)) [[likely]] {
      const uint64_t word = leb_word(at_);
      const uint64_t ends = ~word & kLebContinues;
      if (ends != 0) [[likely]] {
        const unsigned bytes = leb_first_bytes(ends);
        at_ += bytes;
        return {leb_bits(leb_first(word, ends)), 7 * bytes};
      }
    }
    Leb leb;
    const uint8_t* at = at_;
    while (true) {
      if (at == end_) {
        fail(Failure::truncated, field);
        return {};
      }
      if (leb.bits >= 70) {
        fail(Failure::too_long, field);
        return {};
      }
      const uint8_t byte = *at++;
      leb.value |= static_cast<uint64_t>(byte & 0x7F) << leb.bits;
      leb.bits += 7;
      if (byte < 0x80) break;
    }
    at_ = at;
    return leb;
  }

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  Failure failure_ = Failure::none;
  const char* field_ = "";
};

}  // namespace telltale
