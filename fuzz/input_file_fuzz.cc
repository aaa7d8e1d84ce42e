// Any bytes as an input file: opening it neither fails unexpectedly nor yields more than the limits
// allow.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "bytes/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();

  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const telltale::InputLimits limits{
      .max_decompressed_bytes = 3 * kMiB, .max_ratio = 200, .max_window_bytes = 8 * kMiB};
  const telltale::Result<telltale::InputFile> file = telltale::InputFile::open(path, limits);
  if (!file) {
    if (file.error().cause != telltale::Error::Cause::limit) std::abort();
    return 0;
  }
  if (file->compression().empty()) {
    if (file->bytes().size() != size) std::abort();
  } else if (file->bytes().size() > limits.max_decompressed_bytes) {
    std::abort();
  }
  for (const telltale::Problem& problem : file->problems().kept()) {
    if (problem.offset > file->bytes().size() || problem.lost_bytes > size) std::abort();
  }
  return 0;
}
