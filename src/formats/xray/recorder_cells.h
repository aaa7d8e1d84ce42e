#pragma once

#include <cstdint>

#include "bytes/cursor.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// What telltale's own recorder leaves in the cells of its files (docs/formats/xray-recorder.md,
// "Cells"). Functions that take a file REQUIRE header.recorder.cells.

// Where the cell ends that holds the byte at `at`, or the file if it ends before.
uint64_t cell_end(Bytes file, const FileHeader& header, uint64_t at);

// True if the recorder wrote no event to `bytes`, which end where their cell does: they are free
// words, behind the word that closed a buffer if there is one, or a buffer that the process was
// opening when it was killed. Anything else was written, or damaged.
bool is_unused(Bytes bytes, uint16_t version);

// Version 1: true if `bytes`, from a buffer's EndOfBuffer to the end of its cell, are free.
bool is_unused_filler(Bytes bytes);

// Versions with extents: where the records of a buffer end by themselves.
struct RecordsEnd {
  uint64_t offset = 0;         // one past the last record
  uint64_t events_behind = 0;  // of its events, those that end behind `said`
};
// Reads the records of [begin, end), the rest of a cell behind a BufferExtents record that says
// that the buffer ends at `said`: up to a free word, the next buffer, or what is no record.
RecordsEnd find_records_end(Bytes file, const FileHeader& header, uint64_t begin, uint64_t end,
                            uint64_t said);

}  // namespace telltale::xray
