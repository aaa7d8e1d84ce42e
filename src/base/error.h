#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telltale {

// The cause and place of a failure. Offsets and sizes are bytes; `offset` counts from the start of
// the (decompressed) file, not of a chunk.
struct Error {
  enum class Cause : uint8_t {
    truncated,            // the input ends inside a record
    bad_magic,            // not the requested format
    unsupported_version,  // the format, but an unknown version
    bad_field,            // a value that the format forbids
    bad_order,            // a record where the grammar does not allow it
    limit,                // more than a stated limit allows (decompressed size, recursion ...)
    io,                   // a system call failed
    usage,                // the caller's request is invalid
  };
  Cause cause = Cause::bad_field;
  std::string file;                // path as given by the user; empty if not known yet
  std::string record;              // kind of record, e.g. "CustomEvent"; may be empty
  std::string detail;              // one sentence without a full stop, lower case
  std::optional<uint64_t> offset;  // where in the file
};

// "trace.xray: CustomEvent at byte 47: payload needs 4 bytes, 2 are left"
std::string to_string(const Error& error);
std::string_view to_string(Error::Cause cause);

template <typename T>
using Result = std::expected<T, Error>;

// An error without a place in a file.
inline std::unexpected<Error> usage_error(std::string detail) {
  return std::unexpected(Error{Error::Cause::usage, {}, {}, std::move(detail), {}});
}
// An operating system call on `file` failed; adds strerror(error_number).
std::unexpected<Error> io_error(std::string file, std::string_view what, int error_number);

}  // namespace telltale
