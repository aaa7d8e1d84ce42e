#include "bytes/map_resident.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"

namespace telltale {
namespace {

#ifdef MADV_POPULATE_READ

bool is_resident(std::byte* page, size_t page_bytes) {
  unsigned char resident = 0;
  return ::mincore(page, page_bytes, &resident) == 0 && (resident & 1) != 0;
}

#endif

}  // namespace

void map_resident([[maybe_unused]] Bytes bytes) {
#ifdef MADV_POPULATE_READ
  constexpr size_t kPieceBytes = size_t{2} << 20;
  if (bytes.size() < kPieceBytes) return;
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t in_page = reinterpret_cast<uintptr_t>(bytes.data()) % page_bytes;
  auto* const begin = const_cast<std::byte*>(bytes.data()) - in_page;
  const size_t size = in_page + bytes.size();
  parallel_for((size + kPieceBytes - 1) / kPieceBytes, worker_count(0), [&](size_t piece, size_t) {
    std::byte* const from = begin + piece * kPieceBytes;
    const size_t length = std::min(kPieceBytes, size - piece * kPieceBytes);
    const size_t last_page = (length - 1) / page_bytes * page_bytes;
    // Two pages tell: most files are in memory as a whole, or not at all.
    if (is_resident(from, page_bytes) && is_resident(from + last_page, page_bytes))
      ::madvise(from, length, MADV_POPULATE_READ);
  });
#endif
}

}  // namespace telltale
