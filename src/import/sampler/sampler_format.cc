// Sampler's texts: feedback reports, site information and control flow graphs.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/sampler/cfg.h"
#include "formats/sampler/recognise.h"
#include "formats/sampler/verifier.h"
#include "import/format_descriptor.h"
#include "import/sampler/sampler_report_writer.h"
#include "import/sampler/sampler_reports.h"
#include "import/static_information.h"
#include "output/dump/sampler_dump.h"
#include "program/demangle.h"

namespace telltale {
namespace {

constexpr auto kTargets = std::to_array<ConvertTarget>({
    {{"sampler", ".report", "one feedback report of all that were given"}, /*takes_several=*/true},
});

using sampler::TextKind;

// Feedback reports have counts; texts of programs, static information.
class SamplerRecording final : public Recording, public StaticInformation {
 public:
  SamplerRecording(std::vector<InputFile> files, SamplerReports reports)
      : Recording(formats::sampler), files_(std::move(files)), reports_(std::move(reports)) {
    for (const InputFile& file : files_) {
      const TextKind kind = sampler::kind_of(file.bytes());
      has_sites_ = has_sites_ || kind == TextKind::sites;
      if (kind == TextKind::graphs) add_graphs(file);
    }
  }

  [[nodiscard]] std::string_view noun() const override {
    if (reports_.report_count() != 0) return Recording::noun();
    return has_sites_ ? "a site table" : "a file of control flow graphs";
  }

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
  [[nodiscard]] const SamplerReports* counts_at_sites() const override {
    return reports_.report_count() == 0 ? nullptr : &reports_;
  }
  [[nodiscard]] const StaticInformation* static_information() const override {
    return has_sites_ || !graphs_.empty() || reports_.report_count() == 0 ? this : nullptr;
  }

  [[nodiscard]] std::shared_ptr<const SamplerSites> sites() const override {
    return has_sites_ ? reports_.shared_sites() : nullptr;
  }
  [[nodiscard]] std::span<const FunctionGraph> graphs() const override { return graphs_; }

 private:
  // Damage is among the problems of reports_, which has read the file as well.
  void add_graphs(const InputFile& file) {
    ProblemLog known;
    const sampler::CfgInfo info = sampler::CfgInfo::read(file.bytes(), file.name(), 0, known);
    for (const sampler::CfgUnit& unit : info.units()) {
      for (const sampler::CfgFunction& function : info.functions(unit)) {
        FunctionGraph& graph = graphs_.emplace_back();
        graph.name = demangle(function.name);
        graph.linkage_name = function.name;
        for (const sampler::CfgNode& node : info.nodes(function)) {
          ++graph.blocks;
          graph.edges += node.successor_count;
        }
      }
    }
  }

  std::vector<InputFile> files_;
  SamplerReports reports_;
  std::vector<FunctionGraph> graphs_;
  bool has_sites_ = false;
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
  if (reports->report_count() == 0)
    return usage_error(files.front().name() + " has no feedback report to convert");
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
    .records = sampler::sampler_records,
    .convert = convert,
};

}  // namespace telltale
