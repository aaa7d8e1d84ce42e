#include "base/error.h"

#include <fmt/format.h>

#include <system_error>

namespace telltale {

std::string_view to_string(Error::Cause cause) {
  switch (cause) {
    case Error::Cause::truncated:
      return "truncated";
    case Error::Cause::bad_magic:
      return "not this format";
    case Error::Cause::unsupported_version:
      return "unsupported version";
    case Error::Cause::bad_field:
      return "bad field";
    case Error::Cause::bad_order:
      return "bad order";
    case Error::Cause::limit:
      return "limit exceeded";
    case Error::Cause::io:
      return "input/output error";
    case Error::Cause::usage:
      return "usage";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text;
  if (!error.file.empty()) text += error.file + ": ";
  if (!error.record.empty()) text += error.record;
  if (error.offset)
    text += fmt::format("{}at byte {}", error.record.empty() ? "" : " ", *error.offset);
  if (!error.record.empty() || error.offset) text += ": ";
  text += error.detail.empty() ? std::string(to_string(error.cause)) : error.detail;
  return text;
}

std::unexpected<Error> io_error(std::string file, std::string_view what, int error_number) {
  return std::unexpected(
      Error{Error::Cause::io,
            std::move(file),
            {},
            fmt::format("{}: {}", what, std::generic_category().message(error_number)),
            {}});
}

}  // namespace telltale
