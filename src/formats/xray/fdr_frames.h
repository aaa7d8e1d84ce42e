#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// One thread buffer in the file. Offsets are from the start of the file.
struct BufferFrame {
  uint64_t frame_begin = 0;  // its BufferExtents record; in version 1 its NewBuffer record
  uint64_t begin = 0;        // its first record after BufferExtents
  uint64_t end =
      0;  // one past its last record byte in the file; in version 1 the filler is included
  uint64_t first_tsc = 0;  // absolute ticks of the first NewCPUId; 0 if there is none
  uint64_t wall_us =
      0;  // microseconds of the writer's clock, from the wall-time marker; 0 if there is none
  int32_t tid = 0;
  int32_t pid = 0;     // 0 before version 3
  uint16_t cpu = 0;    // of the first NewCPUId
  bool timed = false;  // a NewCPUId sets the time base
  bool torn = false;   // the file ends, or other damage begins, before the declared end
};

// Bytes outside any buffer.
struct Gap {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool slack = false;  // the unused rest of a recorder's cell: not a loss
};

// The places of an FDR file's buffers. Found by jumping from frame to frame; records are only read
// where damage requires it, so the cost is O(buffers) for an undamaged file.
struct FdrFrames {
  std::vector<BufferFrame> buffers;  // in file order
  std::vector<Gap> gaps;             // in file order
  ProblemLog problems;
};

// Frames a whole file whose header has been read. Recovery (examples in docs/formats/xray.md): a
// frame is accepted if the next one, or the end of the file, is at its end. Otherwise its records
// decide whether its length or its successor's head is damaged, and framing resumes at the next
// place that looks like a buffer's beginning. Never fails; `problems` lists the losses. Safe on
// untrusted input; time and memory are linear in it.
FdrFrames frame_fdr_file(Bytes file, const FileHeader& header, const std::string& file_name);

}  // namespace telltale::xray
