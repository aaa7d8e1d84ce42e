#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "output/flame/page_room.h"
#include "output/output_file.h"

namespace telltale {

// An HTML file of the page kit (docs/design/page-kit.md): tabs that each show a part of the data,
// and facts about the recording. Text may be arbitrary bytes.
struct PageHead {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
  std::vector<std::string_view> summary;                   // names of facts that the header shows
};
// A part of the payload. `write` writes one JSON value that is safe inside a script element.
struct PageData {
  std::string_view key;
  std::function<Result<void>(OutputFile&)> write;
};
// `kind` is one of web/src/tabs/kinds.ts, `data` the key of a matching part.
struct PageTab {
  std::string_view id;
  std::string_view kind;
  std::string_view title;
  std::string_view data;
};

// What the parts found no room for in `room` is a fact and in the header, named "left out". Errors:
// the file's, and those of `write`.
Result<void> write_page(const PageHead& head, std::span<const PageData> data,
                        std::span<const PageTab> tabs, const PageRoom& room, OutputFile& out);

}  // namespace telltale
