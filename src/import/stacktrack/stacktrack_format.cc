// StackTrack streams of any platform.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/stacktrack/convert.h"
#include "formats/stacktrack/verifier.h"
#include "import/event_recording.h"
#include "import/format_descriptor.h"
#include "import/stacktrack/stacktrack_layout.h"
#include "import/stacktrack/stacktrack_record_chooser.h"
#include "import/stacktrack/stacktrack_recording.h"
#include "output/dump/stacktrack_dump.h"

namespace telltale {
namespace {

constexpr std::string_view kDescribed = "stacktrack";
constexpr std::string_view kClassic = "stacktrack-classic";
constexpr auto kTargets = std::to_array<ConvertTarget>({
    {{kDescribed, ".tlg", "StackTrack in the layout of --output-description"}},
    {{kClassic, "", "its layout of 2005"}},
    {{"stacktrack-wide", "", "telltale's layout"}},
});

Confidence sniff(Bytes file) {
  return stacktrack::looks_like_records(file) ? Confidence::likely : Confidence::none;
}

Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                              const OpenOptions& options) {
  if (!options.programs.empty())
    return usage_error(
        "a StackTrack recording names its checkpoints itself; it takes no --program");
  std::optional<stacktrack::FormatDescription> platform;
  if (!options.format_description.empty()) {
    Result<stacktrack::FormatDescription> given =
        open_format_description(options.format_description);
    if (!given) return std::unexpected(given.error());
    platform = *std::move(given);
  }
  Result<StacktrackRecording> recording = StacktrackRecording::open(std::move(files), platform);
  if (!recording) return std::unexpected(recording.error());
  return make_event_recording(formats::stacktrack, *std::move(recording));
}

using stacktrack::Record;
using stacktrack::StreamFormat;
using Chooser = std::function<bool(const Record&)>;

// The records of one file that a filter selects. Selection of HITs needs the whole file: it is read
// as a separate recording, on the clock of the filter's window.
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
  describe_verdict<stacktrack::Violation>(verdict, checked);
  return checked;
}

// The layout to write. Errors: those of open_format_description.
Result<stacktrack::FormatDescription> layout_of(const ConvertRequest& request,
                                                const StreamFormat& own) {
  using stacktrack::Layout;
  if (request.target != kDescribed)
    return known_layout(request.target == kClassic ? Layout::classic : Layout::wide);
  if (request.output_description.empty()) return own.description;
  return open_format_description(request.output_description);
}

Result<RecordLosses> convert(std::span<const InputFile> files, const OpenOptions& options,
                             const ConvertRequest& request, const ByteSink& sink,
                             ProblemLog& problems) {
  const InputFile& file = files.front();
  const Result<StreamFormat> format = stacktrack_format(file, options);
  if (!format) return std::unexpected(format.error());
  problems.merge(file.problems());
  const Result<stacktrack::FormatDescription> target = layout_of(request, *format);
  if (!target) return std::unexpected(target.error());
  const Result<stacktrack::ConversionLoss> loss =
      stacktrack::convert_stream(file.bytes(), file.name(), *format, *target, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace

constinit const FormatDescriptor formats::stacktrack = {
    .name = "stacktrack",
    .noun = "a StackTrack stream",
    .versions = "the layouts of 2005 and telltale's, and others by description",
    .page = "stacktrack.md",
    .targets = kTargets,
    .takes_description = true,
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
    .records = stacktrack::stream_records,
    .convert = convert,
};

}  // namespace telltale
