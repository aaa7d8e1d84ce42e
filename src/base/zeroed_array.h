#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace telltale {

// An array of zeroes, for tables of many megabytes that are read in random order: the system
// provides its zeroes, in huge pages if it has some. Throws std::bad_alloc.
template <typename Value>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  // REQUIRES: size * sizeof(Value) does not overflow.
  explicit ZeroedArray(size_t size) : size_(size) {
    void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    (void)::madvise(memory, bytes(), MADV_HUGEPAGE);  // a hint
#endif
    values_ = static_cast<Value*>(memory);
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : values_(std::exchange(other.values_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;
  ZeroedArray& operator=(ZeroedArray&&) = delete;
  ~ZeroedArray() {
    if (values_ != nullptr) (void)::munmap(values_, bytes());
  }

  [[nodiscard]] size_t size() const { return size_; }
  Value& operator[](size_t i) { return values_[i]; }
  const Value& operator[](size_t i) const { return values_[i]; }

 private:
  // At least one, because no mapping is empty.
  [[nodiscard]] size_t bytes() const { return std::max(size_ * sizeof(Value), size_t{1}); }
  Value* values_ = nullptr;
  size_t size_;
};

}  // namespace telltale
