#pragma once

#include <string_view>

namespace telltale {

// The page kit of web/ in two halves; the payload goes between them, as JSON escaped for a script
// element (append_json_for_script). cmake/embed_page.py generates it at build time.
struct EmbeddedPage {
  std::string_view before_data;
  std::string_view after_data;
};

EmbeddedPage embedded_page();

}  // namespace telltale
