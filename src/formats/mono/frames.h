#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/mono/reader.h"

namespace telltale::mono {

// One thread's buffer in the file. Offsets are from the start of the file.
struct BufferFrame {
  uint64_t offset = 0;  // of its header
  uint64_t begin = 0;   // of its first event
  uint64_t end = 0;     // one past its last event byte in the file
  BufferHeader header;
  // The file ends, or the next buffer begins, before the end according to the header.
  bool torn = false;

  [[nodiscard]] Bytes events(Bytes file) const {
    return file.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
};

// Bytes outside any buffer.
struct Gap {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct BufferFrames {
  std::vector<BufferFrame> buffers;  // in file order
  std::vector<Gap> gaps;             // in file order
  ProblemLog problems;
};

// Finds the buffers of a file by jumping from header to header: O(buffers) for an undamaged file. A
// buffer's length is accepted if the next one, or the end of the file, is at its end; otherwise it
// ends at the next place that looks like a buffer header, if that comes before. Never fails; losses
// are in `problems`. Safe on untrusted input; time and memory are linear in it.
BufferFrames frame_file(Bytes file, const FileHeader& header, const std::string& file_name);

// The layout of a file's events: layout_of its version, except for a version 15 of profiler 2.0
// that never names a vtable, which has the events of version 14.
Layout find_layout(Bytes file, const FileHeader& header, const BufferFrames& frames);

// The problem for a decoding error: the rest of the buffer is lost.
Problem decode_problem(const DecodeEnd& end, const BufferFrame& frame,
                       const std::string& file_name);

}  // namespace telltale::mono
