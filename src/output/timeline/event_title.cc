#include "output/timeline/event_title.h"

#include <cstddef>
#include <string_view>

#include "output/escape.h"

namespace telltale {

std::string event_title(const InstantEvent& event) {
  constexpr size_t kMostBytes = 100;
  const std::string_view payload(reinterpret_cast<const char*>(event.payload.data()),
                                 event.payload.size());
  const bool is_line = !payload.empty() && payload.size() <= kMostBytes &&
                       is_printable_utf8(payload) &&
                       payload.find_first_of("\n\t") == std::string_view::npos;
  if (is_line && event.type == 0) return std::string(payload);
  std::string title(event.category);
  title += " event";
  if (event.type != 0) title += " " + std::to_string(event.type);
  if (is_line) {
    title += ": ";
    title += payload;
  }
  return title;
}

}  // namespace telltale
