#include "bytes/read_ahead.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace telltale {

void read_ahead(Bytes bytes) {
  // For most disks, the system limits one request to this size or more.
  constexpr uintptr_t kStepBytes = uintptr_t{512} << 10;
  static const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t end = begin + bytes.size();
  for (uintptr_t at = begin - begin % page_bytes; at < end; at += kStepBytes) {
    ::madvise(reinterpret_cast<void*>(at), std::min(kStepBytes, end - at), MADV_WILLNEED);
  }
}

}  // namespace telltale
