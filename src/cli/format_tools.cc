#include "cli/format_tools.h"

#include <array>

#include "cli/mono_tools.h"
#include "cli/sampler_tools.h"
#include "cli/stacktrack_tools.h"
#include "cli/xray_tools.h"

namespace telltale::cli {

Result<const FormatTools*> find_format_tools(const InputFile& file, const OpenOptions& options) {
  static const std::array kAll = {&kXrayTools, &kMonoTools, &kSamplerTools, &kStacktrackTools};
  if (!options.format_description.empty()) return &kStacktrackTools;
  for (const FormatTools* tools : kAll) {
    if (tools->recognises(file.bytes())) return tools;
  }
  return unknown_format(file.name(), file.bytes());
}

Result<void> for_each_file(
    const ReadingOptions& options,
    const std::function<Result<void>(const InputFile&, const FormatTools&, RecordFilter*)>& use) {
  const OpenOptions open = options.open_options();
  const auto use_one = [&](const InputFile& file, RecordFilter* chosen) -> Result<void> {
    const Result<const FormatTools*> tools = find_format_tools(file, open);
    if (!tools) return std::unexpected(tools.error());
    Result<void> done = use(file, **tools, chosen);
    if (!done && done.error().file.empty()) done.error().file = file.name();
    return done;
  };
  const Result<CallFilter> filter = options.filter();
  if (!filter) return std::unexpected(filter.error());
  if (filter->keeps_everything()) {
    for (const std::string& path : options.files) {
      const Result<InputFile> file = InputFile::open(path, open.limits);
      if (!file) return std::unexpected(file.error());
      if (const Result<void> done = use_one(*file, nullptr); !done) return done;
    }
    return {};
  }
  Result<std::vector<InputFile>> inputs = open_inputs(open);
  if (!inputs) return std::unexpected(inputs.error());
  if (open.format_description.empty() && holds_counts(inputs->front().bytes())) {
    return usage_error(
        "the records of a feedback report are rows without names: no filters; resolve takes "
        "--function");
  }
  const Result<AnyRecording> recording = open_recording(*std::move(inputs), open);
  if (!recording) return std::unexpected(recording.error());
  return std::visit(
      [&](const auto& source) -> Result<void> {
        RecordFilter chosen(*filter, source.clock(), source.first_time(), source.functions());
        for (size_t i = 0; i < source.file_count(); ++i) {
          if constexpr (requires { source.function_at(i, uint64_t{}); })
            chosen.function_at = [&source, i](uint64_t at) { return source.function_at(i, at); };
          if (const Result<void> done = use_one(source.input(i), &chosen); !done) return done;
        }
        return {};
      },
      *recording);
}

}  // namespace telltale::cli
