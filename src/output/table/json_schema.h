#pragma once

#include <span>
#include <string>
#include <string_view>

#include "output/table/field.h"

namespace telltale {

// The JSON Schema (draft 2020-12) of a document in its envelope, with a line feed. Units are
// annotations ("unit"). Keys that the schema does not name are not allowed.
std::string json_schema(const DocumentSchema& schema);

// One kind of line of a document that is one object a line: `record` says which it is.
struct LineSchema {
  std::string_view record;
  std::span<const Field> members;  // besides `offset` and `record`
  bool open = false;               // keys that are not named are allowed
};
// The JSON Schema of each line. `open`: lines of other kinds may occur.
std::string json_line_schema(std::string_view name, std::string_view sentence,
                             std::span<const LineSchema> kinds, bool open);

}  // namespace telltale
