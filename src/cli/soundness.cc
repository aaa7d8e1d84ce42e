#include "cli/soundness.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "import/sampler/sampler_reports.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

// What reading the file as a recording, alone, finds.
Result<ProblemLog> reading_problems(const InputFile& file, const OpenOptions& options) {
  std::vector<InputFile> inputs;
  inputs.push_back(file.share());
  if (options.format_description.empty() && holds_counts(file.bytes())) {
    const Result<SamplerReports> reports =
        SamplerReports::open(std::move(inputs), {options.programs, options.limits});
    if (!reports) return std::unexpected(reports.error());
    return reports->problems();
  }
  const Result<AnyRecording> recording = open_recording(std::move(inputs), options);
  if (!recording) return std::unexpected(recording.error());
  return std::visit([](const auto& source) { return source.info(0, {}).problems; }, *recording);
}

}  // namespace

Result<FileCheck> check_file(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen) {
  const Result<const FormatTools*> tools = find_format_tools(file, options);
  if (!tools) return std::unexpected(tools.error());
  Result<FileCheck> checked = (*tools)->check(file, options, chosen);
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
    return fmt::format("{}: not valid {}: {}\n", visible(checked.file), checked.title,
                       visible(checked.first->text));
  }
  const uint64_t damaged = checked.damage.damage_count();
  const uint64_t count = damaged != 0 ? damaged : checked.damage.count();
  return fmt::format("{}: not a whole {}: {} problem{}\n", visible(checked.file), checked.title,
                     count, count == 1 ? "" : "s");
}

}  // namespace telltale::cli
