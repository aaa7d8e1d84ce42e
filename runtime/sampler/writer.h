// Formats text for write(2). Async-signal-safe, and small enough for a signal stack.
#pragma once

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "../signals/unchecked_memory.h"

namespace telltale::sampler {

inline uint64_t bytes_written = 0;  // by all writers, for ProgressTimeout

// Discards all output after a failed write. Only what is called for each character is inlined,
// because every instrumented program contains this code.
class Writer {
 public:
  explicit Writer(int descriptor) : Writer(descriptor, own_, sizeof(own_)) {}
  // Uses the caller's buffer, of `size` bytes.
  Writer(int descriptor, char* buffer, size_t size)
      : descriptor_(descriptor), buffer_(buffer), size_(size) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { flush(); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int failure() const { return failure_; }  // errno of the failed write; 0: none
  void put(char c) {
    if (used_ == size_) flush();
    buffer_[used_++] = c;
  }
  [[gnu::noinline]] void put(const char* text) {
    while (*text != 0) put(*text++);
  }
  [[gnu::noinline]] void put(const char* bytes, size_t count) {
    while (count > 0) {
      if (used_ == size_) flush();
      const size_t fits = count < size_ - used_ ? count : size_ - used_;
      ::memcpy(buffer_ + used_, bytes, fits);
      used_ += fits;
      bytes += fits;
      count -= fits;
    }
  }
  [[gnu::noinline]] void put_repeated(const char* bytes, size_t count, uint32_t times) {
    const size_t all = count * times;
    if (all > size_ - used_) {
      for (; times > 0; --times) put(bytes, count);
      return;
    }
    char* const begin = buffer_ + used_;
    ::memcpy(begin, bytes, all < count ? all : count);
    for (size_t done = count; done < all;) {
      const size_t part = done < all - done ? done : all - done;
      ::memcpy(begin + done, begin, part);
      done += part;
    }
    used_ += all;
  }
  [[gnu::noinline]] void decimal(uint64_t number) {
    if (number < 10) return put(static_cast<char>('0' + number));
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) put(digits[--count]);
  }
  [[gnu::noinline]] void hex(uint64_t number) {
    bool started = false;
    for (int shift = 60; shift >= 0; shift -= 4) {
      const unsigned digit = number >> shift & 15;
      started = started || digit != 0 || shift == 0;
      if (started) put("0123456789abcdef"[digit]);
    }
  }
  [[gnu::noinline]] void byte(uint8_t value) {
    put("0123456789abcdef"[value >> 4]);
    put("0123456789abcdef"[value & 15]);
  }
  [[gnu::noinline]] void flush() {
    const signals::UncheckedMemory unchecked;
    const char* from = buffer_;
    while (used_ > 0 && failure_ == 0) {
      const ssize_t written = ::write(descriptor_, from, used_);
      if (written < 0 && (errno == EINTR || (errno == EAGAIN && wait()))) continue;
      if (written <= 0) {
        failure_ = written < 0 ? errno : EIO;
        break;
      }
      __atomic_add_fetch(&bytes_written, static_cast<uint64_t>(written), __ATOMIC_RELAXED);
      from += written;
      used_ -= static_cast<size_t>(written);
    }
    used_ = 0;
  }

 private:
  // Waits for a limited time until a non-blocking pipe has room.
  [[nodiscard]] bool wait() const {
    constexpr int kMilliseconds = 1000;
    pollfd one = {descriptor_, POLLOUT, 0};
    return ::poll(&one, 1, kMilliseconds) > 0;
  }

  int descriptor_;
  int failure_ = 0;
  char own_[1024];  // stacks of signal handlers are small
  char* buffer_;
  size_t size_;
  size_t used_ = 0;
};

}  // namespace telltale::sampler
