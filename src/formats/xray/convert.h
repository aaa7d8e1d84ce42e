#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/conversion_loss.h"
#include "formats/xray/wire.h"
#include "formats/xray/writer.h"

namespace telltale::xray {

// The output's format.
struct ConvertTarget {
  enum class Form : uint8_t { fdr, basic, yaml };
  Form form = Form::fdr;
  uint16_t version = 0;  // 0: the newest of the form; yaml: ignored, the input's is written
  std::optional<std::endian> order;  // empty: the input's; yaml: ignored
  // yaml: the value of `function`; empty: the id, as llvm-xray prints it without symbols. Never
  // trusted.
  std::function<std::string(uint32_t id)> function_name;
  uint64_t names_beside_input = 0;  // of functions, in its side record: binary forms have none
};
// Parses "fdr5", "basic3", "fdr" (the newest), "yaml"; empty for other text. For --to.
std::optional<ConvertTarget> parse_convert_target(std::string_view text);

// Writes an XRay trace (FDR 1 to 5, basic 1 to 3, or llvm-xray's YAML, recognised by content) in
// another form or version. Times survive exactly, as do all values that the target can express;
// others are counted in the result. If form, version and byte order are the input's own, all bytes
// are copied, damage included, unless the input has the cells of telltale's recorder. FDR keeps its
// buffers and their order (one that grows beyond its limit is continued in a new one); basic and
// YAML contain each thread's records in order of time, YAML all records by time. Damage in the
// input goes to `problems`. Streams: memory grows with the number of buffers (their index) and
// threads, not with the trace; only YAML input is held in memory. Errors: an unreadable input, an
// unknown version, and the sink's.
Result<ConversionLoss> convert_trace(Bytes file, const std::string& file_name,
                                     const ConvertTarget& target, const ByteSink& sink,
                                     ProblemLog& problems);

}  // namespace telltale::xray
