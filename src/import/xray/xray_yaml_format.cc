// Traces in llvm-xray's text form.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/xray/yaml_trace.h"
#include "import/event_recording.h"
#include "import/format_descriptor.h"
#include "import/program_function_names.h"
#include "import/xray/xray_records.h"
#include "import/xray/xray_yaml_recording.h"
#include "output/dump/xray_dump.h"

namespace telltale {
namespace {

Confidence sniff_yaml(Bytes file) {
  return xray::looks_like_yaml_trace(file) ? Confidence::likely : Confidence::none;
}

Result<std::unique_ptr<const Recording>> open_yaml(std::vector<InputFile> files,
                                                   const OpenOptions& options) {
  if (files.size() != 1)
    return usage_error("a YAML trace is read alone, not together with other files");
  ProblemLog problems;
  Result<std::shared_ptr<const FunctionNames>> names = open_function_names(options, problems);
  if (!names) return std::unexpected(names.error());
  Result<XrayYamlRecording> recording =
      XrayYamlRecording::open(std::move(files.front()), *std::move(names));
  if (!recording) return std::unexpected(recording.error());
  recording->add_problems(problems);
  // Reading the text takes far longer than a virtual call an event.
  return std::make_unique<EventRecording<XrayYamlRecording, TimedCallsOf<XrayYamlRecording>>>(
      formats::xray_yaml, *std::move(recording));
}

// The text has no separate grammar: it is valid if it can be read.
Result<FileCheck> check_yaml(const InputFile& file, const OpenOptions&, RecordFilter* chosen) {
  const std::unique_ptr<xray::RecordSelector> selector = xray_selector(file, chosen);
  FileCheck checked;
  checked.damage.merge(file.problems());
  const Result<xray::YamlTrace> trace =
      xray::read_yaml_trace(file.bytes(), file.name(), checked.damage);
  if (!trace) return std::unexpected(trace.error());
  checked.format = "xray-yaml";
  checked.version = std::to_string(trace->header.version);
  checked.title = "XRay YAML version " + checked.version;
  for (const xray::YamlRecord& record : trace->records)
    checked.records += static_cast<uint64_t>(!selector || selector->yaml(record));
  checked.valid = checked.damage.count() == 0;
  return checked;
}

Result<void> dump_yaml(const InputFile& file, const OpenOptions&, DumpStyle style,
                       const ByteSink& sink, ProblemLog& problems, RecordFilter* chosen) {
  return dump_xray(file, style, sink, problems, chosen);
}

Result<RecordLosses> convert_yaml(std::span<const InputFile> files, const OpenOptions& options,
                                  const ConvertRequest& request, const ByteSink& sink,
                                  ProblemLog& problems) {
  return convert_xray(formats::xray_yaml, files.front(), options, request.target, sink, problems);
}

}  // namespace

constinit const FormatDescriptor formats::xray_yaml = {
    .name = "xray-yaml",
    .noun = "an XRay trace",
    .versions = "what llvm-xray convert -f yaml writes",
    .page = "xray.md",
    .targets = kXrayTargets,
    .sniff = sniff_yaml,
    .open = open_yaml,
    .check = check_yaml,
    .dump = dump_yaml,
    .records = xray::yaml_records,
    .convert = convert_yaml,
};

}  // namespace telltale
