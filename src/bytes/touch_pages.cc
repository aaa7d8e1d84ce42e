#include "bytes/touch_pages.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"

namespace telltale {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;
// Linux makes so many bytes present at once (fault_around_bytes, unless changed).
constexpr size_t kStep = size_t{64} << 10;

}  // namespace

void touch_pages(Bytes bytes) {
  const size_t pieces = bytes.size() / kPieceBytes;  // the rest is not worth a thread
  if (pieces < 2) return;
  std::atomic<unsigned> seen = 0;  // so that the reading is not left out
  parallel_for(pieces, worker_count(0), [&](size_t piece, size_t) {
    unsigned sum = 0;
    for (size_t at = piece * kPieceBytes; at < (piece + 1) * kPieceBytes; at += kStep)
      sum += std::to_integer<unsigned>(bytes[at]);
    seen.fetch_add(sum, std::memory_order_relaxed);
  });
}

}  // namespace telltale
