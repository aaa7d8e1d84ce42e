#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// Bytes that the events of a recording take, by their first byte.
struct EventSizes {
  struct Row {
    uint8_t first_byte = 0;
    std::string_view event;  // static storage
    std::string variant;
    uint64_t count = 0;
    uint64_t least = 0;  // bytes of one event, first byte included
    uint64_t most = 0;
    uint64_t bytes = 0;  // of all
  };
  uint64_t buffers = 0;
  uint64_t header_bytes = 0;  // of the buffers
  std::vector<Row> rows;      // those that occur
};

}  // namespace telltale
