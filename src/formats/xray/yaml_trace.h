#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/records.h"
#include "formats/xray/timed_events.h"

namespace telltale::xray {

// llvm-xray's YAML form of a trace (docs/formats/xray.md, "YAML").

enum class YamlKind : uint8_t { enter, exit, tail_exit, enter_args, custom_event, typed_event };

struct YamlRecord {
  uint64_t offset = 0;  // of the record's mapping, bytes from the start of the file
  uint64_t tsc = 0;     // absolute
  uint32_t function_id = 0;
  uint32_t thread = 0;
  uint32_t process = 0;  // 0: not given
  uint16_t type = 0;     // a typed event's type
  uint16_t cpu = 0;
  YamlKind kind = YamlKind::enter;
  uint32_t name = 0;  // into YamlTrace::names
  uint32_t argument_count = 0;
  uint64_t first_argument = 0;  // into YamlTrace::arguments
  uint64_t data_begin = 0;      // into YamlTrace::data
  uint64_t data_bytes = 0;
};

struct YamlTrace {
  FileHeader header;                // type, version, clock; raw is zero
  std::vector<YamlRecord> records;  // in file order; llvm-xray writes them by time over all threads
  std::vector<std::string> names;   // of functions; names[0] is empty
  std::vector<uint64_t> arguments;
  std::string data;

  [[nodiscard]] std::span<const uint64_t> arguments_of(const YamlRecord& record) const {
    return std::span(arguments).subspan(record.first_argument, record.argument_count);
  }
  // Valid during the trace's lifetime.
  [[nodiscard]] Bytes data_of(const YamlRecord& record) const {
    return std::as_bytes(std::span(data)).subspan(record.data_begin, record.data_bytes);
  }
};

// The record as an event, without its arguments; its payload points into the trace.
TimedEvent timed_event(const YamlTrace& trace, const YamlRecord& record);

// True if the bytes begin like such a text: a document whose first key is `header` or `records`.
bool looks_like_yaml_trace(Bytes file);

// Reads the text event by event. A record that lacks a key or has an invalid value is skipped,
// unknown keys are ignored, and text that is not YAML ends the reading; all of it is counted in
// `problems` with its place. Header versions 1 to 5 are accepted (basic: 1 to 3). Memory: about the
// size of the text. Errors: bad_field or unsupported_version for an unusable header, bad_magic for
// text without one.
Result<YamlTrace> read_yaml_trace(Bytes file, const std::string& file_name, ProblemLog& problems);

}  // namespace telltale::xray
