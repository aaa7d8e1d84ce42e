#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "bytes/input_file.h"
#include "import/convert_target.h"
#include "import/file_check.h"
#include "import/open_options.h"
#include "import/recording.h"
#include "model/record_filter.h"
#include "output/dump_line.h"

namespace telltale {

// How sure a format is that a file is its own. The surest format gets the file; of equals, the one
// that is registered first.
enum class Confidence : uint8_t {
  none,
  unknown_version,  // its header, of a version that nobody documented: every function says so
  likely,           // text or records that make sense
  certain,          // a magic number
};

// All that telltale knows of a format: its folder in import/ defines one of these, and a line in
// formats.def registers it. Functions never throw on bad input; they say what is wrong and where.
struct FormatDescriptor {
  std::string_view name;      // "xray-yaml"
  std::string_view noun;      // "an XRay trace": how messages call a recording
  std::string_view versions;  // "FDR 1 to 5, basic mode 1 to 3"
  std::string_view page;      // below docs/formats/: "xray.md"
  std::span<const ConvertTarget> targets;
  bool takes_description = false;  // OpenOptions::format_description is about this format

  Confidence (*sniff)(Bytes file);

  // One recording of all files. Takes them as its own, whatever sniff() says. Errors: what the
  // readers say, with the file's name; usage for options that mean nothing here.
  Result<std::unique_ptr<const Recording>> (*open)(std::vector<InputFile> files,
                                                   const OpenOptions& options);

  // One file by the format's grammar. A RecordFilter (of the recording that its clock is of)
  // chooses records; null: all. Errors: a file that cannot be read at all.
  Result<FileCheck> (*check)(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen);

  // Every record of one file, in file order. Adds what is wrong with it, but for
  // InputFile::problems, to `problems`. Errors: as check(), and the sink's.
  Result<void> (*dump)(const InputFile& file, const OpenOptions& options, DumpStyle style,
                       const ByteSink& sink, ProblemLog& problems, RecordFilter* chosen);

  // Writes the files as one of `targets`; several only if the target takes several. Null without
  // targets. Errors: as open(), and the sink's.
  Result<RecordLosses> (*convert)(std::span<const InputFile> files, const OpenOptions& options,
                                  const ConvertRequest& request, const ByteSink& sink,
                                  ProblemLog& problems) = nullptr;
};

// The descriptors of telltale's own formats, each defined in the format's folder.
namespace formats {
#define FORMAT(name) extern const FormatDescriptor name;
#include "import/formats.def"
#undef FORMAT
}  // namespace formats

}  // namespace telltale
