#include "cli/mono_tools.h"

#include <fmt/format.h>

#include <optional>

#include "formats/mono/verifier.h"
#include "formats/mono/writer.h"
#include "import/mono/mono_record_selector.h"
#include "output/mono_dump.h"

namespace telltale::cli {
namespace {

std::optional<MonoRecordSelector> selector_of(RecordFilter* chosen) {
  if (chosen == nullptr) return std::nullopt;
  return std::optional<MonoRecordSelector>(std::in_place, *chosen);
}

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter* chosen) {
  std::optional<MonoRecordSelector> selector = selector_of(chosen);
  return mono::dump_recording(file.bytes(), file.name(), style, sink, problems,
                              selector ? &*selector : nullptr);
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter* chosen) {
  std::optional<MonoRecordSelector> selector = selector_of(chosen);
  const Result<mono::Verdict> verdict =
      mono::verify_recording(file.bytes(), selector ? &*selector : nullptr);
  if (!verdict) return std::unexpected(verdict.error());
  FileCheck checked;
  checked.damage.merge(file.problems());
  checked.format = "mono";
  checked.version = std::to_string(verdict->header.version);
  checked.title = fmt::format("Mono log-profiler recording, data version {}", checked.version);
  checked.records = verdict->records;
  for (size_t i = 0; i < mono::Violation::kKinds; ++i) {
    if (verdict->counts[i] == 0) continue;
    checked.violations.emplace_back(to_string(static_cast<mono::Violation::Kind>(i)),
                                    verdict->counts[i]);
  }
  if (const auto& first = verdict->first) {
    checked.first = {first->offset, std::string(to_string(first->kind)), first->record,
                     first->message, to_string(*first)};
  }
  checked.valid = verdict->valid() && !checked.damage.damaged();
  return checked;
}

Result<RecordLosses> convert(const InputFile& file, const OpenOptions&, const RecordsTarget& wanted,
                             const ByteSink& sink, ProblemLog& problems) {
  if (wanted.format != ExportFormat::mono1 && wanted.format != ExportFormat::mono17)
    return usage_error(
        fmt::format("a Mono recording cannot be written as {}", export_format_name(wanted.format)));
  const uint8_t version =
      wanted.format == ExportFormat::mono1 ? mono::kPublishedVersion : mono::kLastVersion;
  const Result<mono::ConversionLoss> loss =
      mono::convert_recording(file.bytes(), file.name(), version, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace

const FormatTools kMonoTools = {mono::looks_like_recording, dump, check, convert};

}  // namespace telltale::cli
