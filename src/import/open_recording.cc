#include "import/open_recording.h"

#include <string>
#include <utility>

#include "base/repeated_files.h"
#include "import/formats.h"
#include "import/recording_folder.h"

namespace telltale {

Result<std::vector<InputFile>> open_inputs(const OpenOptions& options) {
  std::vector<InputFile> inputs;
  const Result<std::vector<std::string>> files = files_of(options);
  if (!files) return std::unexpected(files.error());
  if (const Result<void> once = refuse_repeated(*files); !once)
    return std::unexpected(once.error());
  for (const std::string& path : *files) {
    Result<InputFile> input = InputFile::open(path, options.limits);
    if (!input) return std::unexpected(input.error());
    inputs.push_back(*std::move(input));
  }
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
