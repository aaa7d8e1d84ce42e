#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace telltale {

// What `convert` can write from what a recording tells: its calls, or its counts at sites. What it
// writes record by record is a format's own (ConvertTarget, import/convert_target.h).
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
  std::string_view extensions;  // separated by blanks; one without a dot begins a file's name
  std::string_view text;        // what it is, for help
};

OutputName output_name(ExportFormat format);
std::span<const ExportFormat> all_export_formats();
std::optional<ExportFormat> export_format_of_name(std::string_view name);
// Length of the longest of the extensions that fits the file's name; 0: none does.
size_t fitting_extension(std::string_view extensions, std::string_view path);

// What an export is made from. json and csv are made from either.
bool is_made_from_calls(ExportFormat format);
bool is_made_from_counts(ExportFormat format);

}  // namespace telltale
