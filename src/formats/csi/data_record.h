#pragma once

#include <cstdint>
#include <optional>

#include "bytes/cursor.h"
#include "model/function_data.h"

namespace telltale::csi {

// The data flow of a function. Blocks, values and objects that it names exist.
struct DataRecord {
  uint64_t key = 0;  // of its flow record
  FunctionData data;
};

// Reads a record behind its key, up to the end of `in`. Nothing if its version is unknown. Fails if
// it contradicts itself. What is read takes memory in proportion to its bytes.
std::optional<FunctionData> read_data_record(Cursor& in);

}  // namespace telltale::csi
