#pragma once

// Replacements of libc's memcpy and memset that use no vector registers.

#include <stdint.h>

#include <cstddef>

namespace telltale::recorder {

constexpr size_t kPage = 4096;  // bytes

__extension__ using Wide = unsigned __int128;

inline void copy_bytes(void* to, const void* from, size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
inline void fill_words(void* to, uint64_t word, size_t words) {
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(word) : "memory");
}
inline size_t text_length(const char* text) {
  size_t length = 0;
  while (text[length] != '\0') asm volatile("incq %0" : "+r"(length));
  return length;
}
inline bool same_text(const char* a, const char* b) {
  for (; *a != '\0' && *a == *b; ++a) ++b;
  return *a == *b;
}
inline bool same_bytes(const void* a, const void* b, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (static_cast<const std::byte*>(a)[i] != static_cast<const std::byte*>(b)[i]) return false;
  }
  return true;
}
inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
inline uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Text of bounded length, always zero-terminated; longer text is truncated.
template <size_t kSize>
class Text {
 public:
  // Written so that the compiler does not turn it into a call of memset or memcpy: hooks use it.
  Text() : length_(0) { bytes_[0] = '\0'; }
  Text(const Text& other) : Text() { add(other.c_str()); }
  Text& operator=(const Text& other) {
    if (this == &other) return *this;
    clear();
    return add(other.c_str());
  }
  ~Text() = default;
  // For static objects, which must be initialised before any constructor runs.
  struct Zeros {};
  constexpr explicit Text(Zeros) : bytes_{}, length_(0) {}

  Text& add(const char* text) {
    for (; *text != '\0' && length_ + 1 < kSize; ++text) bytes_[length_++] = *text;
    bytes_[length_] = '\0';
    return *this;
  }
  Text& add(char letter) {
    const char text[2] = {letter, '\0'};
    return add(text);
  }
  Text& add(uint64_t number) {
    char digits[21];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add(digits + at);
  }
  void clear() { bytes_[length_ = 0] = '\0'; }
  [[nodiscard]] const char* c_str() const { return bytes_; }
  [[nodiscard]] size_t size() const { return length_; }
  [[nodiscard]] bool full() const { return length_ + 1 >= kSize; }

 private:
  char bytes_[kSize];
  size_t length_;
};

// A lock for short work with all signals blocked. No allocation, no futex, no owner.
class SpinLock {
 public:
  void lock();
  bool try_lock() { return __atomic_exchange_n(&taken_, 1, __ATOMIC_ACQUIRE) == 0; }
  void unlock() { __atomic_store_n(&taken_, 0, __ATOMIC_RELEASE); }
  void reset() { unlock(); }

 private:
  int taken_ = 0;
};
class Locked {
 public:
  explicit Locked(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace telltale::recorder
