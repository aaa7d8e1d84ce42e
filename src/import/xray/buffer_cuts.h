#pragma once

#include <cstdint>
#include <vector>

#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"

namespace telltale {

// A place where an FDR buffer can be cut in two: before a function record.
struct BufferCut {
  uint64_t offset = 0;  // of that record, from the start of the file
  uint64_t tsc = 0;     // before it
};

// Cuts the records in [begin, end) of `file` into pieces of about `piece_bytes`, on `workers`
// threads. In front of a cut stands a record with a time of its own, so that no estimate needs both
// pieces. The cuts do not depend on the number of workers. Behind a record that cannot be read
// there are none.
std::vector<BufferCut> cut_buffer(Bytes file, const xray::FileHeader& header, uint64_t begin,
                                  uint64_t end, uint64_t piece_bytes, size_t workers);

}  // namespace telltale
