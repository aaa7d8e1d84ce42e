#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/name_style.h"

namespace telltale {

// Formats that `convert` writes from the calls of a recording or its counts at sites. ConvertTarget
// (import/convert_target.h) covers conversion record by record.
enum class ExportFormat : uint8_t {
  perfetto,
  chrome,
  json,
  csv,
  speedscope,
  pprof,
  folded,
  callgrind,
  dot,
  lcov,
};

// Names and file extensions of something that can be written.
struct OutputName {
  std::string_view name;        // what --to takes
  std::string_view extensions;  // separated by blanks; without a dot: the beginning of a file name
  std::string_view text;        // description for help
};

OutputName output_name(ExportFormat format);
std::span<const ExportFormat> all_export_formats();
std::optional<ExportFormat> export_format_of_name(std::string_view name);
// Length of the longest extension that matches the file name; 0: none.
size_t fitting_extension(std::string_view extensions, std::string_view path);

// How an export names functions if nothing else is asked for: short names in what people look at,
// full ones in what other tools shorten, join or sum by name.
NameStyle usual_names(ExportFormat format);

// The source of an export. json and csv accept either.
bool is_made_from_calls(ExportFormat format);
bool is_made_from_counts(ExportFormat format);

}  // namespace telltale
