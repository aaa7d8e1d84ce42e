// Recordings of Mono's log profiler.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/mono/reader.h"
#include "formats/mono/verifier.h"
#include "formats/mono/writer.h"
#include "import/event_recording.h"
#include "import/format_descriptor.h"
#include "import/mono/mono_record_selector.h"
#include "import/mono/mono_recording.h"
#include "import/mono/mono_runtime_events.h"
#include "output/dump/mono_dump.h"

namespace telltale {
namespace {

constexpr std::string_view kPublished = "mono1";
constexpr auto kTargets = std::to_array<ConvertTarget>({
    {{kPublished, "", "Mono log profiler, data version 1"}},
    {{"mono17", ".mlpd", "data version 17"}},
});

class RuntimeRecording final : public EventRecording<MonoRecording> {
 public:
  RuntimeRecording(const FormatDescriptor& format, MonoRecording source)
      : EventRecording(format, std::move(source)) {
    set_runtime(runtime_events_);
  }
  [[nodiscard]] const RuntimeEvents* runtime_events() const override { return &runtime_events_; }

 private:
  MonoRuntimeEvents runtime_events_{source(), *timed_calls()};
};

Confidence sniff(Bytes file) {
  return mono::looks_like_recording(file) ? Confidence::certain : Confidence::none;
}

// The recording contains its method names; programs add nothing.
Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                              const OpenOptions& options) {
  if (!options.programs.empty())
    return usage_error("a Mono recording names its methods itself; it takes no --program");
  Result<MonoRecording> recording = MonoRecording::open(
      std::move(files), options.thread_names ? MonoThreadNames::all : MonoThreadNames::first);
  if (!recording) return std::unexpected(recording.error());
  return std::make_unique<RuntimeRecording>(formats::mono, *std::move(recording));
}

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
  describe_verdict<mono::Violation>(*verdict, checked);
  return checked;
}

Result<RecordLosses> convert(std::span<const InputFile> files, const OpenOptions&,
                             const ConvertRequest& request, const ByteSink& sink,
                             ProblemLog& problems) {
  const InputFile& file = files.front();
  problems.merge(file.problems());
  const uint8_t version =
      request.target == kPublished ? mono::kPublishedVersion : mono::kLastVersion;
  const Result<mono::ConversionLoss> loss =
      mono::convert_recording(file.bytes(), file.name(), version, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace

constinit const FormatDescriptor formats::mono = {
    .name = "mono",
    .noun = "a Mono recording",
    .versions = "data version 1 to 17",
    .page = "mono.md",
    .targets = kTargets,
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
    .records = mono::recording_records,
    .convert = convert,
};

}  // namespace telltale
