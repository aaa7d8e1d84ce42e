#include "bytes/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace telltale {

InputFile InputFile::from_memory(std::string name, Bytes bytes) {
  InputFile file;
  file.name_ = std::move(name);
  file.bytes_ = bytes;
  return file;
}

Result<InputFile> InputFile::open(const std::string& path, const InputLimits& /*limits*/) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    const int number = errno;
    ::close(fd);
    return io_error(path, "cannot stat", number);
  }
  InputFile file;
  file.name_ = path;
  const auto size = static_cast<size_t>(status.st_size);
  if (size != 0) {
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
      const int number = errno;
      ::close(fd);
      return io_error(path, "cannot map", number);
    }
    file.owner_ = std::shared_ptr<const void>(
        mapped, [size](const void* address) { ::munmap(const_cast<void*>(address), size); });
    file.bytes_ = Bytes(static_cast<const std::byte*>(mapped), size);
  }
  ::close(fd);
  return file;
}

}  // namespace telltale
