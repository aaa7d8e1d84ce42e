#include "base/append_format.h"

#include <iterator>

// Of telltale_fmt (fmt/fmt_library.cc): {fmt}'s headers do not say so.
FMT_BEGIN_NAMESPACE
namespace detail {
extern template FMT_API void vformat_to(buffer<char>&, string_view,
                                        basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE

namespace telltale {

void append_formatted(std::string& text, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(text), format, arguments);
}

}  // namespace telltale
