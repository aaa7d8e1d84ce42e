#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace telltale {

// Appends integers in a given byte order to a growing buffer: the inverse of Cursor.
class ByteWriter {
 public:
  explicit ByteWriter(std::endian order = std::endian::little) : order_(order) {}

  template <std::integral T>
  ByteWriter& write(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (order_ != std::endian::native) {
      for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    }
    bytes_.append(raw, sizeof(T));
    return *this;
  }
  ByteWriter& write(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return *this;
  }
  ByteWriter& zeros(size_t n) {
    bytes_.append(n, '\0');
    return *this;
  }

  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::endian order_;
  std::string bytes_;
};

}  // namespace telltale
