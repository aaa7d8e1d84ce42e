#include "import/open_recording.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/sampler/recognise.h"
#include "formats/stacktrack/format_description_xml.h"
#include "formats/stacktrack/recognise.h"
#include "import/program_function_names.h"
#include "import/xray/xray_side_record.h"

namespace telltale {
namespace {

// A format that can be opened: one line each in kFormats.
struct Format {
  std::string_view name;
  bool (*recognises)(Bytes);
  Result<AnyRecording> (*open)(std::vector<InputFile>, const OpenOptions&);
};

// Opens a recording whose functions are named by the programs in the options.
template <typename Recording, typename Inputs>
Result<AnyRecording> open_with_programs(Inputs inputs, const OpenOptions& options) {
  ProblemLog problems;
  Result<std::shared_ptr<const FunctionNames>> names =
      open_function_names(options.programs, problems);
  if (!names) return std::unexpected(names.error());
  Result<Recording> recording = Recording::open(std::forward<Inputs>(inputs), *std::move(names));
  if (!recording) return std::unexpected(recording.error());
  recording->add_problems(problems);
  return AnyRecording(std::move(*recording));
}

// Traces of telltale's own recorder have side records, which say what ids mean.
Result<AnyRecording> open_xray(std::vector<InputFile> inputs, const OpenOptions& options) {
  ProblemLog problems;
  Result<XraySideRecords> sides =
      open_side_records(inputs, options.programs, options.limits, problems);
  if (!sides) return std::unexpected(sides.error());
  if (sides->names == nullptr) {
    auto names = open_function_names(options.programs, problems);
    if (!names) return std::unexpected(names.error());
    sides->names = *std::move(names);
  }
  Result<XrayRecording> recording = XrayRecording::open(std::move(inputs), sides->names);
  if (!recording) return std::unexpected(recording.error());
  recording->set_contexts(std::move(sides->contexts));
  recording->add_problems(problems);
  return AnyRecording(std::move(*recording));
}

Result<AnyRecording> open_xray_yaml(std::vector<InputFile> inputs, const OpenOptions& options) {
  if (inputs.size() != 1)
    return usage_error("a YAML trace is read alone, not together with other files");
  return open_with_programs<XrayYamlRecording>(std::move(inputs.front()), options);
}

// The recording names its methods itself: programs have nothing to add.
Result<AnyRecording> open_mono(std::vector<InputFile> inputs, const OpenOptions& options) {
  if (!options.programs.empty())
    return usage_error("a Mono recording names its methods itself; it takes no --program");
  Result<MonoRecording> recording = MonoRecording::open(
      std::move(inputs), options.thread_names ? MonoThreadNames::all : MonoThreadNames::first);
  if (!recording) return std::unexpected(recording.error());
  return AnyRecording(std::move(*recording));
}

Result<AnyRecording> open_stacktrack(std::vector<InputFile> inputs, const OpenOptions& options) {
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
  Result<StacktrackRecording> recording = StacktrackRecording::open(std::move(inputs), platform);
  if (!recording) return std::unexpected(recording.error());
  return AnyRecording(std::move(*recording));
}

Result<AnyRecording> refuse_sampler(std::vector<InputFile>, const OpenOptions&) {
  return usage_error(
      "a feedback report has counts, no calls and no times: info, dump, check, convert, report, "
      "top and resolve answer for it");
}

constexpr auto kFormats = std::to_array<Format>({
    {"xray", xray::looks_like_trace, open_xray},
    {"mono", mono::looks_like_recording, open_mono},
    {"xray-yaml", xray::looks_like_yaml_trace, open_xray_yaml},
    {"sampler", sampler::looks_like_text, refuse_sampler},
    {"stacktrack", stacktrack::looks_like_records, open_stacktrack},
});

const Format* find_format(Bytes bytes, const OpenOptions& options) {
  for (const Format& format : kFormats) {
    if (options.format_description.empty() ? format.recognises(bytes) : format.name == "stacktrack")
      return &format;
  }
  return nullptr;
}

}  // namespace

std::unexpected<Error> unknown_format(const std::string& file_name, Bytes bytes) {
  // A newer version than is known is no recording of another kind.
  if (auto header = xray::read_file_header(bytes);
      !header && header.error().cause == Error::Cause::unsupported_version) {
    header.error().file = file_name;
    return std::unexpected(std::move(header.error()));
  }
  return std::unexpected(
      Error{Error::Cause::bad_magic,
            file_name,
            {},
            bytes.empty() ? "the file is empty" : "this is no recording that telltale knows",
            0});
}

Result<stacktrack::FormatDescription> open_format_description(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  Result<stacktrack::FormatDescription> read = stacktrack::read_format_description(file->bytes());
  if (!read) read.error().file = path;
  return read;
}

bool holds_counts(Bytes file) { return sampler::looks_like_text(file); }

Result<std::vector<InputFile>> open_inputs(const OpenOptions& options) {
  std::vector<InputFile> inputs;
  for (const std::string& path : options.files) {
    Result<InputFile> input = InputFile::open(path, options.limits);
    if (!input) return std::unexpected(input.error());
    inputs.push_back(*std::move(input));
  }
  if (inputs.empty()) return usage_error("no recording was given");
  return inputs;
}

Result<AnyRecording> open_recording(std::vector<InputFile> inputs, const OpenOptions& options) {
  const Format* format = nullptr;
  for (const InputFile& input : inputs) {
    const Format* found = find_format(input.bytes(), options);
    if (found == nullptr) return unknown_format(input.name(), input.bytes());
    if (format != nullptr && found != format)
      return usage_error(input.name() + " is of another format than the files before it");
    format = found;
  }
  if (format == nullptr) return usage_error("no recording was given");
  return format->open(std::move(inputs), options);
}

Result<AnyRecording> open_recording(const OpenOptions& options) {
  Result<std::vector<InputFile>> inputs = open_inputs(options);
  if (!inputs) return std::unexpected(inputs.error());
  return open_recording(*std::move(inputs), options);
}

}  // namespace telltale
