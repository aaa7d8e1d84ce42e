#include "report/soundness.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/counted.h"
#include "import/formats.h"
#include "import/open_recording.h"
#include "output/escape.h"

namespace telltale {
namespace {

// The problems found by opening the file alone as a recording.
Result<ProblemLog> reading_problems(const InputFile& file, const OpenOptions& options) {
  std::vector<InputFile> inputs;
  inputs.push_back(file.share());
  const auto recording = open_recording(std::move(inputs), options);
  if (!recording) return std::unexpected(recording.error());
  return (*recording)->info(0).problems;
}

}  // namespace

Result<FileCheck> check_file(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen) {
  const Result<const FormatDescriptor*> format = find_format(file, options);
  if (!format) return std::unexpected(format.error());
  Result<FileCheck> checked = (*format)->check(file, options, chosen);
  if (!checked) return checked;
  checked->file = file.name();
  if (chosen != nullptr) return checked;
  const Result<ProblemLog> problems = reading_problems(file, options);
  if (!problems) return std::unexpected(problems.error());
  checked->damage = *problems;  // the file's own among them
  checked->valid = checked->valid && !problems->damaged();
  return checked;
}

std::string describe_unsound(const FileCheck& checked) {
  if (checked.first) {
    return fmt::format("{}: invalid {}: {}\n", visible(checked.file), checked.title,
                       visible(checked.first->text));
  }
  const uint64_t damaged = checked.damage.damage_count();
  const uint64_t count = damaged != 0 ? damaged : checked.damage.count();
  return fmt::format("{}: {} is incomplete: {}\n", visible(checked.file), checked.title,
                     counted(count, "problem"));
}

}  // namespace telltale
