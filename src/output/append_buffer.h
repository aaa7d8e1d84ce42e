#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale {

// A byte buffer that encoders write into through a raw pointer: they reserve space once per record,
// and growing never clears memory that is overwritten next. Move-only.
class AppendBuffer {
 public:
  // Space for at least `n` bytes, valid until the next call. The caller writes to it and calls
  // commit(end).
  char* reserve(size_t n) {
    if (n > capacity_ - size_) [[unlikely]]
      grow(n);
    return data_.get() + size_;
  }
  void commit(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }
  void append(std::string_view bytes) {
    char* place = reserve(bytes.size());
    if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  // Truncates to `size`. REQUIRES: size <= this->size().
  void truncate(size_t size) { size_ = size; }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  void grow(size_t n) {
    const size_t wanted = std::max({size_ + n, capacity_ + capacity_ / 2, size_t{4096}});
    char* moved = static_cast<char*>(std::realloc(data_.get(), wanted));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(moved);
    capacity_ = wanted;
  }

  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Pool of reusable buffers: memory that was touched before causes no page faults. Safe to share
// between threads.
class BufferPool {
 public:
  AppendBuffer take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    AppendBuffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give(AppendBuffer buffer) {
    buffer.truncate(0);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<AppendBuffer> free_;
};

}  // namespace telltale
