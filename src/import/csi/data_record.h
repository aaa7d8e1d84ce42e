#pragma once

#include <optional>

#include "bytes/cursor.h"
#include "model/function_data.h"

namespace telltale {

// Reads a record of data flow (csi::DataRecord): `in` is at its version. Nothing if that is
// unknown. Fails if the record contradicts itself. What is read names only values, objects and
// blocks that exist, and takes memory in proportion to its bytes.
std::optional<FunctionData> read_data_record(Cursor& in);

}  // namespace telltale
