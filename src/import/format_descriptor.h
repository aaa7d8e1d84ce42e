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
#include "output/dump/dump_output.h"

namespace telltale {

// How certain a format is that a file belongs to it. The most certain format gets the file; ties go
// to the one registered first.
enum class Confidence : uint8_t {
  none,
  unknown_version,  // its header with an undocumented version: every function returns that error
  likely,           // plausible text or records
  certain,          // a magic number
};

// Everything that telltale knows about a format. The format's folder in import/ defines it, and a
// line in formats.def registers it. Functions never throw on bad input; errors say what is wrong
// and where.
struct FormatDescriptor {
  std::string_view name;      // "xray-yaml"
  std::string_view noun;      // "an XRay trace": how messages call a recording
  std::string_view versions;  // "FDR 1 to 5, basic mode 1 to 3"
  std::string_view page;      // below docs/formats/: "xray.md"
  std::span<const ConvertTarget> targets;
  bool takes_description = false;  // OpenOptions::format_description applies to this format

  Confidence (*sniff)(Bytes file);

  // Opens all files as one recording, without asking sniff(). Errors: those of the readers, with
  // the file's name; usage for options that do not apply.
  Result<std::unique_ptr<const Recording>> (*open)(std::vector<InputFile> files,
                                                   const OpenOptions& options);

  // Checks one file against the format's grammar. `chosen` selects records, on the clock of its
  // recording; null: all. Errors: a file that cannot be read at all.
  Result<FileCheck> (*check)(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen);

  // Prints every record of one file, in file order. Adds its problems, except InputFile::problems,
  // to `problems`. Errors: as check(), and the sink's.
  Result<void> (*dump)(const InputFile& file, const OpenOptions& options, DumpStyle style,
                       const ByteSink& sink, ProblemLog& problems, RecordFilter* chosen);

  // The kinds of records that dump() prints.
  std::vector<RecordTable> (*records)();

  // Writes the files as one of `targets`; several only if the target takes several. Null without
  // targets. Errors: as open(), and the sink's.
  Result<RecordLosses> (*convert)(std::span<const InputFile> files, const OpenOptions& options,
                                  const ConvertRequest& request, const ByteSink& sink,
                                  ProblemLog& problems) = nullptr;
};

// The descriptors of the built-in formats, each defined in the format's folder.
namespace formats {
#define FORMAT(name) extern const FormatDescriptor name;
#include "import/formats.def"
#undef FORMAT
}  // namespace formats

}  // namespace telltale
