#pragma once

#include <string>

#include "output/table/field.h"

namespace telltale {

// The JSON Schema (draft 2020-12) of a document in its envelope, with a line feed. Units are
// annotations ("unit"). Keys that the schema does not name are not allowed.
std::string json_schema(const DocumentSchema& schema);

}  // namespace telltale
