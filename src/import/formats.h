#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "import/format_descriptor.h"

namespace telltale {

// The registered formats (formats.def, then those of add_format), in order.
std::span<const FormatDescriptor* const> all_formats();

// Registers a further format; `format` must outlive every use. Not thread-safe: call before opening
// any file.
void add_format(const FormatDescriptor& format);

// The format of a file, by content; with a format description, the format that takes one. Errors:
// bad_magic if no format recognises the file.
Result<const FormatDescriptor*> find_format(const InputFile& file, const OpenOptions& options);

// The formats that `convert` can write: exports, and the targets of all formats.
struct OutputFormat {
  OutputName name;
  std::optional<ExportFormat> made_as;  // an export; none: written record by record

  [[nodiscard]] bool is_export() const { return made_as.has_value(); }
};
// In the order in which help lists them.
std::vector<OutputFormat> output_formats();
std::optional<OutputFormat> output_format_of_name(std::string_view name);
// The target of a format by name; null if there is none.
const ConvertTarget* find_target(const FormatDescriptor& format, std::string_view name);

}  // namespace telltale
