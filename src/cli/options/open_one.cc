#include "cli/options/open_one.h"

#include <expected>
#include <utility>

#include "cli/command_line.h"
#include "cli/options/net_option.h"
#include "import/open_recording.h"

namespace telltale::cli {

Result<std::unique_ptr<const Recording>> open_one(const ReadingOptions& options, size_t index,
                                                  const std::vector<std::string>& own_programs) {
  OpenOptions open = options.open_options();
  open.files = {options.files.at(index)};
  open.programs.insert(open.programs.end(), own_programs.begin(), own_programs.end());
  Result<std::vector<InputFile>> inputs = open_inputs(open);
  if (!inputs) return std::unexpected(inputs.error());
  if (options.strict)
    for (const InputFile& input : *inputs) options.read->push_back(input.share());
  auto recording = open_recording(*std::move(inputs), open);
  if (!recording) return recording;
  if (const Result<void> usable = check_use(options.verb, **recording); !usable)
    return std::unexpected(usable.error());
  return with_net_option(*std::move(recording), options);
}

ReadingOptions with_programs_of_sides(ReadingOptions options,
                                      const std::vector<std::string>& before,
                                      const std::vector<std::string>& after) {
  for (const auto* const programs : {&before, &after})
    options.programs.insert(options.programs.end(), programs->begin(), programs->end());
  return options;
}

}  // namespace telltale::cli
