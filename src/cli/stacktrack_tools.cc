#include "cli/stacktrack_tools.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "formats/stacktrack/convert.h"
#include "formats/stacktrack/verifier.h"
#include "import/stacktrack/stacktrack_record_chooser.h"
#include "import/stacktrack/stacktrack_recording.h"
#include "output/stacktrack_dump.h"

namespace telltale::cli {
namespace {

using stacktrack::Record;
using stacktrack::StreamFormat;
using Chooser = std::function<bool(const Record&)>;

// The records of one file that a filter keeps. Which HITs those are follows from all of the file's:
// it is read as a recording of its own, on the clock that the filter's window is on.
Result<Chooser> chooser_of(const InputFile& file, const StreamFormat& format,
                           RecordFilter* chosen) {
  if (chosen == nullptr) return Chooser();
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory(file.name(), file.bytes()));
  const Result<StacktrackRecording> recording =
      StacktrackRecording::open(std::move(inputs), format.description);
  if (!recording) return std::unexpected(recording.error());
  RecordFilter own(chosen->call_filter(), chosen->clock(), chosen->first_time(),
                   recording->functions());
  const auto hits = std::make_shared<const std::vector<uint64_t>>(recording->choose(own).hits[0]);
  const auto records =
      std::make_shared<StacktrackRecordChooser>(*hits, chooses_context(chosen->call_filter()));
  return [hits, records](const Record& record) { return records->keeps(record); };
}

Result<void> dump(const InputFile& file, const OpenOptions& options, DumpStyle style,
                  const ByteSink& sink, ProblemLog& problems, RecordFilter* chosen) {
  const Result<StreamFormat> format = stacktrack_format(file, options);
  if (!format) return std::unexpected(format.error());
  const Result<Chooser> chooser = chooser_of(file, *format, chosen);
  if (!chooser) return std::unexpected(chooser.error());
  return stacktrack::dump_stream(file.bytes(), file.name(), *format, style, sink, problems,
                                 *chooser);
}

Result<FileCheck> check(const InputFile& file, const OpenOptions& options, RecordFilter* chosen) {
  const Result<StreamFormat> format = stacktrack_format(file, options);
  if (!format) return std::unexpected(format.error());
  const Result<Chooser> chooser = chooser_of(file, *format, chosen);
  if (!chooser) return std::unexpected(chooser.error());
  const stacktrack::Verdict verdict = stacktrack::verify_stream(file.bytes(), *format, *chooser);
  FileCheck checked;
  checked.damage.merge(file.problems());
  checked.format = "stacktrack";
  checked.version = std::to_string(format->description.version);
  checked.title = fmt::format("StackTrack version {:#x} ({} layout)", format->description.version,
                              layout_name(format->description));
  tell_verdict<stacktrack::Violation>(verdict, checked);
  return checked;
}

Result<RecordLosses> convert(const InputFile& file, const OpenOptions& options,
                             const RecordsTarget& wanted, const ByteSink& sink,
                             ProblemLog& problems) {
  const Result<StreamFormat> format = stacktrack_format(file, options);
  if (!format) return std::unexpected(format.error());
  stacktrack::FormatDescription target = format->description;
  switch (wanted.format) {
    case ExportFormat::stacktrack:
      if (!wanted.output_description.empty()) {
        Result<stacktrack::FormatDescription> given =
            open_format_description(wanted.output_description);
        if (!given) return std::unexpected(given.error());
        target = *std::move(given);
      }
      break;
    case ExportFormat::stacktrack_classic:
      target = stacktrack::known_layout(stacktrack::Layout::classic);
      break;
    case ExportFormat::stacktrack_wide:
      target = stacktrack::known_layout(stacktrack::Layout::wide);
      break;
    default:
      return usage_error(fmt::format("a StackTrack stream cannot be written as {}",
                                     export_format_name(wanted.format)));
  }
  const Result<stacktrack::ConversionLoss> loss =
      stacktrack::convert_stream(file.bytes(), file.name(), *format, target, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace

Result<StreamFormat> stacktrack_format(const InputFile& file, const OpenOptions& options) {
  if (options.format_description.empty()) return stacktrack::recognise(file.bytes());
  const Result<stacktrack::FormatDescription> platform =
      open_format_description(options.format_description);
  if (!platform) return std::unexpected(platform.error());
  return stacktrack::recognise(file.bytes(), *platform);
}

const FormatTools kStacktrackTools = {stacktrack::looks_like_records, dump, check, convert};

}  // namespace telltale::cli
