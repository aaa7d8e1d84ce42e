#include "bytes/cursor.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace telltale {

void Cursor::fail_at(uint64_t file_offset, Error::Cause cause, std::string detail) {
  if (error_) return;
  error_ = Error{cause, {}, std::string(record_), std::move(detail), file_offset};
}

void Cursor::fail_truncated(uint64_t needed, std::string_view field) {
  fail(Error::Cause::truncated,
       fmt::format("{} needs {} bytes, {} are left", field, needed, left()));
}

}  // namespace telltale
