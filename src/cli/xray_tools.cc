#include "cli/xray_tools.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "formats/xray/convert.h"
#include "formats/xray/verifier.h"
#include "formats/xray/yaml_trace.h"
#include "import/xray/xray_record_selector.h"
#include "output/xray_dump.h"

namespace telltale::cli {
namespace {

bool recognises(Bytes bytes) {
  return xray::looks_like_trace(bytes) || xray::looks_like_yaml_trace(bytes);
}

// A recording of files with different frequencies tells time in nanoseconds.
std::optional<XrayRecordSelector> selector_of(const InputFile& file, RecordFilter* chosen) {
  if (chosen == nullptr) return std::nullopt;
  const Result<xray::FileHeader> header = xray::read_file_header(file.bytes());
  if (!header || header->cycle_frequency == chosen->clock().ticks_per_second)
    return std::optional<XrayRecordSelector>(std::in_place, *chosen, std::nullopt);
  const Clock own{.name = "TSC", .ticks_per_second = header->cycle_frequency};
  return std::optional<XrayRecordSelector>(std::in_place, *chosen, own);
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter* chosen) {
  std::optional<XrayRecordSelector> selector = selector_of(file, chosen);
  return xray::dump_trace(file.bytes(), file.name(), style, sink, problems,
                          selector ? &*selector : nullptr);
}

// llvm-xray's text has no grammar of its own, but it can be read or not.
Result<FileCheck> check_yaml(const InputFile& file, xray::RecordSelector* selector) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  const Result<xray::YamlTrace> trace =
      xray::read_yaml_trace(file.bytes(), file.name(), checked.damage);
  if (!trace) return std::unexpected(trace.error());
  checked.format = "xray-yaml";
  checked.version = std::to_string(trace->header.version);
  checked.title = "XRay YAML version " + checked.version;
  for (const xray::YamlRecord& record : trace->records)
    checked.records += static_cast<uint64_t>(selector == nullptr || selector->yaml(record));
  checked.valid = checked.damage.count() == 0;
  return checked;
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter* chosen) {
  std::optional<XrayRecordSelector> selected = selector_of(file, chosen);
  xray::RecordSelector* selector = selected ? &*selected : nullptr;
  if (xray::looks_like_yaml_trace(file.bytes())) return check_yaml(file, selector);
  const Result<xray::Verdict> verdict = xray::verify_trace(file.bytes(), selector);
  if (!verdict) return std::unexpected(verdict.error());
  const bool fdr = verdict->header.type == xray::LogType::fdr;
  FileCheck checked;
  checked.damage.merge(file.problems());
  checked.format = fdr ? "xray-fdr" : "xray-basic";
  checked.version = std::to_string(verdict->header.version);
  checked.title = fmt::format("XRay {} version {}", fdr ? "FDR" : "basic", checked.version);
  checked.records = verdict->records;
  for (size_t i = 0; i < xray::Violation::kKinds; ++i) {
    if (verdict->counts[i] == 0) continue;
    checked.violations.emplace_back(to_string(static_cast<xray::Violation::Kind>(i)),
                                    verdict->counts[i]);
  }
  if (const auto& first = verdict->first) {
    checked.first = {first->offset, std::string(to_string(first->kind)), first->record,
                     first->message, to_string(*first)};
  }
  checked.valid = verdict->valid() && !checked.damage.damaged();
  return checked;
}

Result<RecordLosses> convert(const InputFile& file, const OpenOptions& options,
                             const RecordsTarget& wanted, const ByteSink& sink,
                             ProblemLog& problems) {
  const bool yaml = wanted.format == ExportFormat::llvm_xray_yaml;
  std::optional<xray::ConvertTarget> target =
      xray::parse_convert_target(yaml ? "yaml" : export_format_name(wanted.format));
  if (!target)
    return usage_error(
        fmt::format("an XRay trace cannot be written as {}", export_format_name(wanted.format)));
  std::optional<AnyRecording> names;  // what knows functions' names, for the one form with names
  if (yaml && !options.programs.empty()) {
    Result<AnyRecording> recording = open_recording(options);
    if (!recording) return std::unexpected(recording.error());
    names.emplace(std::move(*recording));
    target->function_name = [&names](uint32_t id) {
      return std::visit(
          [id](const auto& source) { return source.functions().describe(FunctionId{id}).name; },
          *names);
    };
  }
  const Result<xray::ConversionLoss> loss =
      xray::convert_trace(file.bytes(), file.name(), *target, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace

const FormatTools kXrayTools = {recognises, dump, check, convert};

}  // namespace telltale::cli
