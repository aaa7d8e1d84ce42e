// Text through write(2) alone: may be used in a signal handler.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

namespace telltale::sampler {

class Writer {
 public:
  explicit Writer(int descriptor) : descriptor_(descriptor) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { flush(); }

  void put(char c) {
    if (used_ == sizeof(buffer_)) flush();
    buffer_[used_++] = c;
  }
  void put(const char* text) {
    while (*text != 0) put(*text++);
  }
  void decimal(uint64_t number) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) put(digits[--count]);
  }
  void hex(uint64_t number) {
    bool started = false;
    for (int shift = 60; shift >= 0; shift -= 4) {
      const unsigned digit = number >> shift & 15;
      started = started || digit != 0 || shift == 0;
      if (started) put("0123456789abcdef"[digit]);
    }
  }
  void byte(uint8_t value) {
    put("0123456789abcdef"[value >> 4]);
    put("0123456789abcdef"[value & 15]);
  }
  void flush() {
    const char* from = buffer_;
    while (used_ > 0) {
      const ssize_t written = ::write(descriptor_, from, used_);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      from += written;
      used_ -= static_cast<size_t>(written);
    }
    used_ = 0;
  }

 private:
  int descriptor_;
  char buffer_[4096];
  size_t used_ = 0;
};

}  // namespace telltale::sampler
