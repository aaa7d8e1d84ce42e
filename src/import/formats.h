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

// Registers a format that is not telltale's own; `format` must outlive the process's last answer.
// Not thread-safe: before anything is opened.
void add_format(const FormatDescriptor& format);

// The format of a file, by content; the one that takes a description if the options have one.
// Errors: bad_magic if no format knows the file.
Result<const FormatDescriptor*> find_format(const InputFile& file, const OpenOptions& options);

// What `convert` can write: exports, and the targets of all formats.
struct OutputFormat {
  OutputName name;
  std::optional<ExportFormat> made_as;  // an export; none: written record by record

  [[nodiscard]] bool is_export() const { return made_as.has_value(); }
};
// In the order in which help lists them.
std::vector<OutputFormat> output_formats();
std::optional<OutputFormat> output_format_of_name(std::string_view name);
// By the file's extension, or by the beginning of its name; the longest that fits.
std::optional<OutputFormat> output_format_of_path(std::string_view path);
// The target of a format by name; null: it cannot be written so.
const ConvertTarget* find_target(const FormatDescriptor& format, std::string_view name);

}  // namespace telltale
