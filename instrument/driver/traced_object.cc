#include "driver/traced_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "formats/csi/wire.h"

namespace telltale::driver {

// Any object with path tracing has the name of that section among its names of sections, perhaps
// as ".zdebug_...": without the dot it is found in either.
bool is_traced_object(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat status{};
  bool found = false;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const std::string name = csi::kRecordSection;
      found = ::memmem(bytes, size, name.c_str() + 1, name.size()) != nullptr;
      ::munmap(bytes, size);
    }
  }
  ::close(file);
  return found;
}

}  // namespace telltale::driver
