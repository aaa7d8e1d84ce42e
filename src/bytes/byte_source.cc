#include "bytes/byte_source.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace telltale {

Result<Bytes> ByteSource::peek(size_t n) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ - begin_ < n && begin_ + n > kStepBytes) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < n && !at_end_) {
    const ssize_t got = ::read(fd_, buffer_.get() + end_, kStepBytes - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(name_, "cannot read", errno);
    at_end_ = got == 0;
    end_ += static_cast<size_t>(got);
    read_ += static_cast<uint64_t>(got);
  }
  return Bytes(buffer_.get() + begin_, end_ - begin_);
}

}  // namespace telltale
