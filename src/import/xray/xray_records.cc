#include "import/xray/xray_records.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "formats/xray/convert.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/records.h"
#include "import/recording.h"
#include "import/timed_calls.h"
#include "import/xray/ordered_selector.h"
#include "import/xray/xray_record_selector.h"
#include "import/xray/xray_recording.h"
#include "import/xray/xray_side_record.h"
#include "output/dump/xray_dump.h"

namespace telltale {

// A recording of files with different frequencies has times in nanoseconds.
std::unique_ptr<xray::RecordSelector> xray_selector(const InputFile& file, RecordFilter* chosen) {
  if (chosen == nullptr) return nullptr;
  const Result<xray::FileHeader> header = xray::read_file_header(file.bytes());
  std::optional<Clock> own;
  if (header && !is_same_counter(header->cycle_frequency, chosen->clock().ticks_per_second))
    own = Clock{.name = "TSC", .ticks_per_second = header->cycle_frequency};
  auto selector = std::make_unique<XrayRecordSelector>(*chosen, own, nullptr, process_beside(file));
  if (!header || header->type != xray::LogType::fdr || !chosen->by_depth()) return selector;
  const xray::FdrFrames frames = xray::frame_fdr_file(file.bytes(), *header, file.name());
  if (!has_unordered_buffers(frames)) return selector;
  return std::make_unique<OrderedSelector>(file.bytes(), *header, frames, *selector);
}

Result<void> dump_xray(const InputFile& file, DumpStyle style, const ByteSink& sink,
                       ProblemLog& problems, RecordFilter* chosen) {
  return xray::dump_trace(file.bytes(), file.name(), style, sink, problems,
                          xray_selector(file, chosen).get());
}

Result<RecordLosses> convert_xray(const FormatDescriptor& format, const InputFile& file,
                                  const OpenOptions& options, std::string_view target,
                                  const ByteSink& sink, ProblemLog& problems) {
  std::optional<xray::ConvertTarget> wanted =
      xray::parse_convert_target(target == kXrayYamlTarget ? "yaml" : target);
  if (!wanted) return usage_error(fmt::format("unknown XRay format {}", target));
  std::unique_ptr<const Recording> recording;  // of the file: it knows the names
  std::vector<InputFile> beside;
  beside.push_back(file.share());
  ProblemLog same_again;  // of the side record: opening the recording finds them, too
  const Result<XraySideRecords> sides = open_side_records(beside, options, same_again);
  if (!sides) return std::unexpected(sides.error());
  wanted->names_beside_input = sides->functions;
  if (target == kXrayYamlTarget && (!options.programs.empty() || sides->names != nullptr)) {
    std::vector<InputFile> inputs;
    inputs.push_back(file.share());
    auto opened = format.open(std::move(inputs), options);
    if (!opened) return std::unexpected(opened.error());
    recording = *std::move(opened);
    for (const Problem& problem : recording->problems().kept())
      if (problem.kind == Problem::Kind::names) problems.add(problem);
    // The recording's ids may be others than the file's.
    wanted->function_name = [&names = recording->timed_calls()->functions(),
                             ids = recording->functions_in(0)](uint32_t id) {
      const FunctionInfo& info = names.describe(ids ? ids(id) : FunctionId{id});
      // A function without a name has its id, as in llvm-xray's text.
      return info.name == fmt::format("#{}", id) ? std::to_string(id) : info.name;
    };
  }
  problems.merge(file.problems());
  const Result<xray::ConversionLoss> loss =
      xray::convert_trace(file.bytes(), file.name(), *wanted, sink, problems);
  if (!loss) return std::unexpected(loss.error());
  return losses_of(*loss);
}

}  // namespace telltale
