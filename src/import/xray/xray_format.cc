// XRay's binary traces: flight data recorder and basic mode.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/xray/verifier.h"
#include "import/event_recording.h"
#include "import/format_descriptor.h"
#include "import/program_function_names.h"
#include "import/xray/xray_recording.h"
#include "import/xray/xray_records.h"
#include "import/xray/xray_side_record.h"
#include "output/dump/xray_dump.h"

namespace telltale {
namespace {

Confidence sniff(Bytes file) {
  if (xray::looks_like_trace(file)) return Confidence::likely;
  const Result<xray::FileHeader> header = xray::read_file_header(file);
  const bool is_newer = !header && header.error().cause == Error::Cause::unsupported_version;
  return is_newer ? Confidence::unknown_version : Confidence::none;
}

// Traces of telltale's recorder have side records, which define the ids.
Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                              const OpenOptions& options) {
  ProblemLog problems;
  Result<XraySideRecords> sides = open_side_records(files, options, problems);
  if (!sides) return std::unexpected(sides.error());
  if (sides->names == nullptr) {
    auto names = open_function_names(options, problems);
    if (!names) return std::unexpected(names.error());
    sides->names = *std::move(names);
  }
  Result<XrayRecording> recording =
      XrayRecording::open(std::move(files), sides->names, std::move(sides->contexts));
  if (!recording) return std::unexpected(recording.error());
  recording->add_problems(problems);
  return make_event_recording(formats::xray, *std::move(recording));
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter* chosen) {
  const Result<xray::Verdict> verdict =
      xray::verify_trace(file.bytes(), xray_selector(file, chosen).get());
  if (!verdict) return std::unexpected(verdict.error());
  const bool fdr = verdict->header.type == xray::LogType::fdr;
  FileCheck checked;
  checked.damage.merge(file.problems());
  checked.format = fdr ? "xray-fdr" : "xray-basic";
  checked.version = std::to_string(verdict->header.version);
  checked.title = fmt::format("XRay {} version {}", fdr ? "FDR" : "basic", checked.version);
  describe_verdict<xray::Violation>(*verdict, checked);
  return checked;
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter* chosen) {
  return dump_xray(file, style, sink, problems, chosen);
}

Result<RecordLosses> convert(std::span<const InputFile> files, const OpenOptions& options,
                             const ConvertRequest& request, const ByteSink& sink,
                             ProblemLog& problems) {
  return convert_xray(formats::xray, files.front(), options, request.target, sink, problems);
}

}  // namespace

constinit const FormatDescriptor formats::xray = {
    .name = "xray",
    .noun = "an XRay trace",
    .versions = "flight data recorder 1 to 5, basic mode 1 to 3",
    .page = "xray.md",
    .targets = kXrayTargets,
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
    .records = xray::trace_records,
    .convert = convert,
};

}  // namespace telltale
