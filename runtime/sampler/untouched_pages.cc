#include "untouched_pages.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "../descriptors/open_file.h"

namespace telltale::sampler {

UntouchedPages::~UntouchedPages() {
  if (file_ >= 0) ::close(file_);
}

void UntouchedPages::open() {
  page_bits_ = __builtin_ctzl(static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)));
  file_ = descriptors::open_file("/proc/self/pagemap", O_RDONLY);
  // Emulators show the pages of their own process. This object has been touched.
  if (file_ >= 0 && is_untouched(reinterpret_cast<uintptr_t>(this) >> page_bits_)) {
    ::close(file_);
    file_ = -1;
  }
}

bool UntouchedPages::contain(const void* begin, size_t bytes) {
  if (file_ < 0 || bytes == 0) return false;
  const auto from = reinterpret_cast<uintptr_t>(begin);
  for (uintptr_t page = from >> page_bits_; page <= (from + bytes - 1) >> page_bits_; ++page) {
    if (!is_untouched(page)) return false;
  }
  return true;
}

bool UntouchedPages::is_untouched(uintptr_t page) {
  if (page < first_ || page - first_ >= count_) {
    const ssize_t read =
        ::pread(file_, entries_, sizeof(entries_), static_cast<off_t>(page * sizeof(uint64_t)));
    first_ = page;
    count_ = read > 0 ? static_cast<size_t>(read) / sizeof(uint64_t) : 0;
    if (count_ == 0) return false;
  }
  // Linux, Documentation/admin-guide/mm/pagemap.rst: bit 63 is "present", bit 62 "swapped".
  constexpr uint64_t kHasContent = uint64_t{3} << 62;
  return (entries_[page - first_] & kHasContent) == 0;
}

}  // namespace telltale::sampler
