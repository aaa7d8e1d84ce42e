#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"

namespace telltale {

// A position at which an FDR buffer can be split.
struct BufferCut {
  uint64_t offset = 0;  // of the record after it, in the file
  uint64_t tsc = 0;     // before it
};

// Cuts the records in [begin, end) of `file` into pieces of about `piece_bytes`, on `workers`
// threads, before function records. A record with its own time precedes each cut, so that no
// estimate needs both pieces. The cuts do not depend on the number of workers. There are none after
// an unreadable record.
std::vector<BufferCut> cut_buffer(Bytes file, const xray::FileHeader& header, uint64_t begin,
                                  uint64_t end, uint64_t piece_bytes, size_t workers);

// Where the last whole record in [begin, end) of `file` ends, and the time there. None if no record
// has its own time. REQUIRES: a buffer's records begin at `begin`.
std::optional<BufferCut> last_cut(Bytes file, const xray::FileHeader& header, uint64_t begin,
                                  uint64_t end);

}  // namespace telltale
