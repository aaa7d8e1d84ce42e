#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace telltale {

// The part of the protocol buffers wire format (https://protobuf.dev/programming-guides/encoding/)
// that exports need.

// Writes `value` as a varint and returns the position after it; needs up to 10 bytes.
inline char* write_varint(char* place, uint64_t value) {
  while (value >= 0x80) {
    *place++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *place++ = static_cast<char>(value);
  return place;
}

// Builds a message where speed does not matter; hot loops write bytes directly.
class ProtoMessage {
 public:
  ProtoMessage& varint(uint32_t field, uint64_t value) {
    tag(field, 0);
    put(value);
    return *this;
  }
  // Signed fields of type int32 and int64 are varints of the sign-extended value.
  ProtoMessage& int64(uint32_t field, int64_t value) {
    return varint(field, static_cast<uint64_t>(value));
  }
  // A field of type double.
  ProtoMessage& real(uint32_t field, double value) {
    tag(field, 1);
    auto bits = std::bit_cast<uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xFF);
    return *this;
  }
  ProtoMessage& bytes(uint32_t field, std::string_view value) {
    tag(field, 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  // A string field holds UTF-8: ill-formed pieces become U+FFFD.
  ProtoMessage& text(uint32_t field, std::string_view value);
  ProtoMessage& message(uint32_t field, const ProtoMessage& value) {
    return bytes(field, value.bytes_);
  }
  template <typename Values>
  ProtoMessage& packed(uint32_t field, const Values& values) {
    ProtoMessage inside;
    for (const auto value : values) inside.put(static_cast<uint64_t>(value));
    return bytes(field, inside.bytes_);
  }

  [[nodiscard]] const std::string& encoded() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  void put(uint64_t value) {
    char raw[10];
    bytes_.append(raw, static_cast<size_t>(write_varint(raw, value) - raw));
  }
  void tag(uint32_t field, uint32_t wire_type) { put((uint64_t{field} << 3) | wire_type); }

  std::string bytes_;
};

}  // namespace telltale
