#include "import/open_recording.h"

#include <optional>
#include <string>
#include <utility>

#include "base/repeated_files.h"
#include "import/formats.h"
#include "import/recording_folder.h"

namespace telltale {
namespace {

// Why a file's header cannot be read, if the file ends inside it: the writer died at once.
std::optional<Error> header_error(const InputFile& input, const OpenOptions& options) {
  constexpr size_t kMostBytes = 4096;  // of a file without records
  if (input.bytes().size() > kMostBytes) return std::nullopt;
  std::vector<InputFile> alone;
  alone.push_back(input.share());
  const auto recording = open_recording(std::move(alone), options);
  if (recording || recording.error().cause != Error::Cause::truncated) return std::nullopt;
  return recording.error();
}

Problem problem_of(const Error& error, const InputFile& input) {
  return {
      Problem::Kind::torn_tail, error.offset.value_or(0), input.name(), error.record, error.detail,
      input.bytes().size()};
}

}  // namespace

Result<std::vector<InputFile>> open_inputs(const OpenOptions& options) {
  std::vector<InputFile> inputs;
  std::vector<Problem> left_out;
  std::optional<Error> first_torn;
  const Result<std::vector<std::string>> files = files_of(options);
  if (!files) return std::unexpected(files.error());
  if (const Result<void> once = refuse_repeated(*files); !once)
    return std::unexpected(once.error());
  for (const std::string& path : *files) {
    Result<InputFile> input = InputFile::open(path, options.limits);
    if (!input) return std::unexpected(input.error());
    // One such file of several is a loss; the others can be read. SIGKILL ends a program with an
    // empty report.
    if (files->size() > 1 && input->bytes().empty()) {
      const Error empty = find_format(*input, options).error();
      if (!first_torn) first_torn = empty;
      left_out.push_back(problem_of(empty, *input));
      continue;
    }
    // A file of a folder that ends inside its header is a loss, too.
    if (is_of_folder(options, path)) {
      if (const std::optional<Error> torn = header_error(*input, options)) {
        if (!first_torn) first_torn = torn;
        left_out.push_back(problem_of(*torn, *input));
        continue;
      }
    }
    inputs.push_back(*std::move(input));
  }
  if (inputs.empty() && first_torn) return std::unexpected(*first_torn);
  for (Problem& problem : left_out) inputs.front().add_problem(std::move(problem));
  if (inputs.empty()) return usage_error("no recording was given");
  return inputs;
}

Result<std::unique_ptr<const Recording>> open_recording(std::vector<InputFile> inputs,
                                                        const OpenOptions& options) {
  const FormatDescriptor* format = nullptr;
  std::string first;
  for (const InputFile& input : inputs) {
    const Result<const FormatDescriptor*> found = find_format(input, options);
    if (!found) return std::unexpected(found.error());
    if (format != nullptr && *found != format) {
      return usage_error(
          fmt::format("{} and {} are of different formats, {} and {}: give files of one", first,
                      input.name(), format->name, (*found)->name));
    }
    if (format == nullptr) first = input.name();
    format = *found;
  }
  if (format == nullptr) return usage_error("no recording was given");
  return format->open(std::move(inputs), options);
}

Result<std::unique_ptr<const Recording>> open_recording(const OpenOptions& options) {
  Result<std::vector<InputFile>> inputs = open_inputs(options);
  if (!inputs) return std::unexpected(inputs.error());
  return open_recording(*std::move(inputs), options);
}

}  // namespace telltale
