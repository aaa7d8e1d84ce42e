#include "bytes/map_resident.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/parallel.h"

namespace telltale {
namespace {

#ifdef MADV_POPULATE_READ

bool is_resident(uintptr_t page, uintptr_t page_bytes) {
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(page), page_bytes, &resident) == 0 &&
         (resident & 1) != 0;
}

#endif

}  // namespace

void map_resident([[maybe_unused]] Bytes bytes) {
#ifdef MADV_POPULATE_READ
  // The system fills a table of 2 MiB at once.
  constexpr uintptr_t kPieceBytes = uintptr_t{2} << 20;
  if (bytes.size() < kPieceBytes) return;
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t end = first + bytes.size();
  const uintptr_t begin = first - first % kPieceBytes;
  parallel_for(
      (end - begin + kPieceBytes - 1) / kPieceBytes, worker_count(0), [&](size_t piece, size_t) {
        const uintptr_t from = std::max(begin + piece * kPieceBytes, first - first % page_bytes);
        const uintptr_t to = std::min(begin + (piece + 1) * kPieceBytes, end);
        const uintptr_t last = (to - 1) - (to - 1) % page_bytes;
        // Two pages tell: most files are in memory as a whole, or not at all.
        if (is_resident(from, page_bytes) && is_resident(last, page_bytes))
          ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_READ);
      });
#endif
}

}  // namespace telltale
