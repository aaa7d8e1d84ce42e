#include "base/append_format.h"

#include <iterator>

namespace telltale {

void append_formatted(std::string& text, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(text), format, arguments);
}

}  // namespace telltale
