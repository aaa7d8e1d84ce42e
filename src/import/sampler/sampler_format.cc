// Sampler's texts: feedback reports, site information and control flow graphs.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/sampler/recognise.h"
#include "formats/sampler/verifier.h"
#include "import/format_descriptor.h"
#include "import/sampler/sampler_report_writer.h"
#include "import/sampler/sampler_reports.h"
#include "output/dump/sampler_dump.h"

namespace telltale {
namespace {

constexpr auto kTargets = std::to_array<ConvertTarget>({
    {{"sampler", ".report", "one feedback report of all that were given"}, /*takes_several=*/true},
});

class SamplerRecording final : public Recording {
 public:
  SamplerRecording(std::vector<InputFile> files, SamplerReports reports)
      : Recording(formats::sampler), files_(std::move(files)), reports_(std::move(reports)) {}

  // Sites of the functions that the filter selects.
  [[nodiscard]] RecordingInfo info(size_t, const CallFilter& filter) const override {
    if (filter.functions.empty()) return reports_.info();
    FunctionInfo function;
    bool kept = filter.matches(function);
    return reports_.info([&](const CountedSite& site) {
      if (function.name != site.function) {
        function.name = site.function;
        kept = filter.matches(function);
      }
      return kept;
    });
  }
  [[nodiscard]] const ProblemLog& problems() const override { return reports_.problems(); }
  [[nodiscard]] size_t file_count() const override { return files_.size(); }
  [[nodiscard]] const InputFile& input(size_t file) const override { return files_[file]; }
  [[nodiscard]] const SamplerReports* counts_at_sites() const override { return &reports_; }

 private:
  std::vector<InputFile> files_;
  SamplerReports reports_;
};

Confidence sniff(Bytes file) {
  return sampler::looks_like_text(file) ? Confidence::certain : Confidence::none;
}

Result<std::unique_ptr<const Recording>> open(std::vector<InputFile> files,
                                              const OpenOptions& options) {
  std::vector<InputFile> shared;
  for (const InputFile& file : files) shared.push_back(file.share());
  Result<SamplerReports> reports =
      SamplerReports::open(std::move(files), {options.programs, options.limits});
  if (!reports) return std::unexpected(reports.error());
  return std::make_unique<SamplerRecording>(std::move(shared), *std::move(reports));
}

using sampler::TextKind;

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  switch (sampler::kind_of(file.bytes())) {
    case TextKind::sites:
      return sampler::dump_sites(file.bytes(), file.name(), style, sink, problems);
    case TextKind::graphs:
      return sampler::dump_graphs(file.bytes(), file.name(), style, sink, problems);
    default:
      return sampler::dump_report(file.bytes(), file.name(), style, sink, problems);
  }
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  sampler::Verdict verdict;
  switch (sampler::kind_of(file.bytes())) {
    case TextKind::sites:
      verdict = sampler::verify_sites(file.bytes());
      checked.format = "sampler-sites";
      checked.title = "Sampler site information";
      break;
    case TextKind::graphs:
      verdict = sampler::verify_graphs(file.bytes());
      checked.format = "sampler-cfg";
      checked.title = "Sampler control flow graphs, version 0.1";
      break;
    default:
      verdict = sampler::verify_report(file.bytes());
      checked.format = "sampler";
      checked.title = "Sampler feedback report";
  }
  checked.version = checked.format == "sampler-cfg" ? "0.1" : "1";
  describe_verdict<sampler::Violation>(verdict, checked);
  return checked;
}

Result<RecordLosses> convert(std::span<const InputFile> files, const OpenOptions& options,
                             const ConvertRequest&, const ByteSink& sink, ProblemLog& problems) {
  std::vector<InputFile> shared;
  for (const InputFile& file : files) shared.push_back(file.share());
  const Result<SamplerReports> reports =
      SamplerReports::open(std::move(shared), {options.programs, options.limits});
  if (!reports) return std::unexpected(reports.error());
  problems.merge(reports->problems());
  BlockWriter out(sink);
  write_as_one_report(*reports, out);
  if (const Result<void> done = out.finish(); !done) return std::unexpected(done.error());
  return RecordLosses();
}

}  // namespace

constinit const FormatDescriptor formats::sampler = {
    .name = "sampler",
    .noun = "a feedback report",
    .versions = "reports and sites 1, control flow graphs 0.1",
    .page = "sampler.md",
    .targets = kTargets,
    .sniff = sniff,
    .open = open,
    .check = check,
    .dump = dump,
    .convert = convert,
};

}  // namespace telltale
