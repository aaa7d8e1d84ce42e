#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/byte_source.h"
#include "bytes/cursor.h"
#include "bytes/input_file.h"
#include "bytes/spool.h"

namespace telltale {

// "gzip", "zstd", "xz" or "lz4" if the bytes begin such a stream, otherwise empty. Reads the first
// four bytes.
std::string_view compression_of(Bytes beginning);

// Decompresses all members (gzip, RFC 1952), frames (zstd, RFC 8878; LZ4, its frame format 1.6.4)
// or streams (xz, its file format 1.1.0) of `in` into `out`. If the stream is truncated, damaged or
// followed by other bytes, decoding stops and `problems` gets the place. REQUIRES: compression_of
// returned `compression`. Errors: io, limit.
Result<void> decompress(std::string_view compression, ByteSource& in, const InputLimits& limits,
                        Spool& out, ProblemLog& problems);

// The same for a stream in memory that must be whole and sound, as in the body of a request.
// Errors: limit; corruption, truncation or other bytes after it as bad_field.
Result<std::string> decompress_whole(std::string_view compression, Bytes in,
                                     const InputLimits& limits);

}  // namespace telltale
