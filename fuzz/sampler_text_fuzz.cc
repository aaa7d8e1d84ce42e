// Sampler's texts: no crash; rewriting reproduces the input; joining, dumping, checking and
// converting report problems only inside the input. In an input with a line "----", the part before
// it is a report and the part after it the site information that it is joined with.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/sites/line_counts.h"
#include "analysis/sites/site_sums.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/decimate.h"
#include "formats/sampler/recognise.h"
#include "formats/sampler/report_writer.h"
#include "formats/sampler/site_info.h"
#include "formats/sampler/verifier.h"
#include "fuzz_checks.h"
#include "import/sampler/sampler_report_writer.h"
#include "import/sampler/sampler_reports.h"
#include "output/dump/cfg_text.h"
#include "output/dump/sampler_dump.h"
#include "output/table/section.h"
#include "report/reports.h"
#include "report/sites/resolved_sites.h"
#include "report/sites/site_reports.h"

namespace {

using namespace telltale;
using namespace telltale::sampler;

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void require_printable(const std::string& text) {
  for (const char c : text)
    fuzz::require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "no control characters");
}

using Dump = Result<void> (*)(Bytes, const std::string&, DumpStyle, const ByteSink&, ProblemLog&);

void check_dump(Bytes file, Dump dump) {
  ProblemLog text_problems;
  ProblemLog json_problems;
  std::string text;
  std::string json;
  fuzz::require(dump(file, "f", DumpStyle::kText, fuzz::into(text), text_problems).has_value(),
                "dump");
  fuzz::require(dump(file, "f", DumpStyle::kJson, fuzz::into(json), json_problems).has_value(),
                "dump --json");
  fuzz::require_placed(text_problems, file);
  fuzz::require(text_problems.count() == json_problems.count(), "both see the same problems");
  require_printable(text);
}

void check_report(Bytes report, Bytes sites) {
  std::string again;
  fuzz::require(rewrite_report(report, fuzz::into(again)).has_value(), "rewriting");
  fuzz::require(again == as_text(report), "rewriting gives the same bytes");
  check_dump(report, dump_report);
  const Verdict verdict = verify_report(report);
  fuzz::require(verdict.valid() == (verdict.violations() == 0), "the first violation is counted");
  ProblemLog problems;
  std::string fewer;
  fuzz::require(decimate(report, 3, 1, fuzz::into(fewer), problems).has_value(), "decimating");

  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("report", report));
  if (kind_of(sites) == TextKind::sites) inputs.push_back(InputFile::from_memory("sites", sites));
  SamplerOptions options;
  options.any_text = inputs.size() == 1;
  const Result<SamplerReports> reports = SamplerReports::open(std::move(inputs), options);
  if (!reports) return;
  for (const Problem& problem : reports->problems().kept())
    fuzz::require(problem.offset <= (problem.file == "report" ? report : sites).size(),
                  "a problem is placed inside the input");
  static_cast<void>(reports->info());
  for (const ExportFormat format : all_export_formats()) {
    if (!is_made_from_counts(format)) continue;
    std::string out;
    static_cast<void>(convert_reports(*reports, {}, {}, format, fuzz::into(out)));
  }
  std::string one;
  const ByteSink into_one = fuzz::into(one);
  BlockWriter one_report(into_one);
  write_as_one_report(*reports, one_report);
  fuzz::require(one_report.finish().has_value(), "one report of all");
  std::vector<InputFile> written;
  written.push_back(InputFile::from_memory("one", as_bytes(one)));
  const Result<SamplerReports> read = SamplerReports::open(std::move(written), {});
  fuzz::require(read && !read->problems().damaged(), "one report of all is sound");
  SiteReadings readings(*reports, {}, {});
  const std::vector<Section> sections =
      make_sections(reports_on(Capability::counts_at_sites), {.sites = &readings}, 1);
  std::string summary;
  const ByteSink into_summary = fuzz::into(summary);
  BlockWriter writer(into_summary);
  write_sections_text(sections, writer);
  fuzz::require(writer.finish().has_value() && !summary.empty(), "report");
}

void check_sites(Bytes file) {
  check_dump(file, dump_sites);
  static_cast<void>(verify_sites(file));
  ProblemLog problems;
  const SiteInfo info = SiteInfo::read(file, "f", 0, problems);
  for (const SitesSection& section : info.sections()) {
    for (size_t i = 0; i < section.size(); ++i)
      fuzz::require(section.row(i).column_count != 0, "a row has a column");
  }
}

void check_graphs(Bytes file) {
  check_dump(file, dump_graphs);
  static_cast<void>(verify_graphs(file));
  ProblemLog problems;
  const CfgInfo info = CfgInfo::read(file, "f", 0, problems);
  std::string again;
  for (const CfgUnit& unit : info.units()) append_cfg_unit(again, info, unit);
  ProblemLog none;
  const CfgInfo read = CfgInfo::read(as_bytes(again), "f", 0, none);
  fuzz::require(!none.damaged() && read.units().size() == info.units().size(),
                "what is written is whole");
  GraphProgram program;
  program.add(info, "f");
  std::string out;
  fuzz::require(program.write_dump(fuzz::into(out)) && program.write_dot(fuzz::into(out)) &&
                    program.write_calls(fuzz::into(out)),
                "graphs");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  constexpr std::string_view kCut = "\n----\n";
  const size_t cut = as_text(file).find(kCut);
  switch (kind_of(file)) {
    case TextKind::sites:
      check_sites(file);
      break;
    case TextKind::graphs:
      check_graphs(file);
      break;
    default:
      if (cut == std::string_view::npos) {
        check_report(file, {});
      } else {
        check_report(file.first(cut + 1), file.subspan(cut + kCut.size()));
      }
  }
  return 0;
}
