#include "import/stacktrack/stacktrack_layout.h"

#include "formats/stacktrack/format_description_xml.h"

namespace telltale {

Result<stacktrack::FormatDescription> open_format_description(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  Result<stacktrack::FormatDescription> read = stacktrack::read_format_description(file->bytes());
  if (!read) read.error().file = path;
  return read;
}

Result<stacktrack::StreamFormat> stacktrack_format(const InputFile& file,
                                                   const OpenOptions& options) {
  if (options.format_description.empty()) return stacktrack::recognise(file.bytes());
  const Result<stacktrack::FormatDescription> platform =
      open_format_description(options.format_description);
  if (!platform) return std::unexpected(platform.error());
  return stacktrack::recognise(file.bytes(), *platform);
}

}  // namespace telltale
