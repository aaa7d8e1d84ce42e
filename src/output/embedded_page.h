#pragma once

#include <string_view>

namespace telltale {

// The page kit of web/, complete but for the payload that goes between its halves: JSON written for
// a script element (append_json_for_script). Made at build time by cmake/embed_page.py.
struct EmbeddedPage {
  std::string_view before_data;
  std::string_view after_data;
};

EmbeddedPage embedded_page();

}  // namespace telltale
