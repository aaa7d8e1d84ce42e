#include "report/sites/site_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "import/sampler/sampler_backtrace.h"
#include "output/table/site_rows.h"
#include "program/demangle.h"
#include "report/sites/site_fields.h"

namespace telltale {

void LargestSites::offer(uint64_t rank, const CountedSite& site) {
  if (rank == 0 || rows_ == 0) return;
  if (kept_.size() == rows_ && rank <= std::prev(kept_.end())->first) return;
  kept_.emplace(rank, DescribedSite{site.scheme->name, site_values(site), site_words(site),
                                    std::string(site.function), site_place(site)});
  if (kept_.size() > rows_) kept_.erase(std::prev(kept_.end()));
}

SiteReadings::SiteReadings(const SamplerReports& reports, const CallFilter& filter,
                           SiteReportOptions wanted)
    : source(reports),
      options(std::move(wanted)),
      busiest(options.rows),
      one_way(options.rows),
      last(options.rows) {
  SiteFilter kept(filter, options.counts);
  reports.for_each_site(false, [&](const CountedSite& site) {
    if (!kept.keeps(site)) return;
    sums.on(site);
    busiest.offer(site.total(), site);
    last.offer(site.last_time, site);
    const bool branch = site.scheme->name == "branches" && site.observed;
    if (branch && (site.counts[0] == 0 || site.counts[1] == 0)) one_way.offer(site.total(), site);
  });
}

namespace reports {
namespace {

using field::address;
using field::count;
using field::fraction;
using field::number;
using field::number_id;
using field::rows;
using field::text;

constexpr std::array kTotals = {
    count("files", "Feedback reports.").titled("files"),
    count("sites", "Sites.").titled("sites"),
    count("observed", "Sites with a count.").titled("observed sites"),
    count("observations", "Sum of all counts.").titled("counts"),
    number_id("sampled_one_in", "With --sparsity: one in so many was counted.")
        .titled("one counted in")
        .sometimes(),
    number("estimate", Unit::count, "With --sparsity: what the counts are an estimate of.")
        .titled("so there were about")
        .sometimes(),
    number("margin", Unit::count,
           "With --sparsity: half of the 95 % interval if executions were observed "
           "independently (-fno-sample-regions); otherwise it is wider.")
        .titled("give or take at least (95 %)")
        .sometimes(),
    count("unresolved", "Sections without site information.")
        .titled("sections without site information"),
    count("unreported_units", "Units of the programs that have sites, but no report.")
        .titled("units of the programs without a report"),
    count("uneven", "Sections that do not fit the site information.")
        .titled("sections that do not match it"),
    count("damaged_places", "Damaged places.").titled("damaged places"),
    text("note", "Why nothing was observed, as far as the reports tell.")
        .titled("note")
        .sometimes(),
};

void make_totals(const ReportInput& input, Section& section) {
  const SamplerReports& source = input.sites->source;
  const SiteSums::Scheme all = input.sites->sums.all();
  section.add("files", uint64_t{source.report_count()});
  section.add("sites", all.sites);
  section.add("observed", all.observed);
  section.add("observations", all.observations);
  if (const uint64_t sparsity = input.sites->options.counts.sparsity; sparsity > 1) {
    const Estimate guess = estimate(all.observations, static_cast<double>(sparsity));
    section.add("sampled_one_in", sparsity);
    section.add("estimate", guess.value);
    section.add("margin", guess.margin);
  }
  section.add("unresolved", source.unresolved_sections());
  section.add("unreported_units", source.unreported_units());
  section.add("uneven", source.uneven_sections());
  section.add("damaged_places", source.problems().damage_count() - source.unresolved_problems());
  if (const std::string_view note = source.nothing_observed(); !note.empty())
    section.add("note", std::string(note));
}

constexpr std::array kSchemeColumns = {
    kScheme,
    count("sites", "Its sites."),
    count("observed", "Sites with a count."),
    fraction("observed_share", "Sites with a count of all.").titled("OF SITES"),
    count("observations", "Sum of the counts.").titled("COUNTS"),
};
constexpr std::array kSchemesMembers = {rows("schemes", kSchemeColumns, "A row for each scheme.")};

void make_schemes(const ReportInput& input, Section& section) {
  Table table(kSchemeColumns);
  for (const SiteSums::Scheme& scheme : input.sites->sums.schemes()) {
    const double share = scheme.sites == 0 ? 0
                                           : static_cast<double>(scheme.observed) /
                                                 static_cast<double>(scheme.sites);
    table.add_row({scheme.name, scheme.sites, scheme.observed, share, scheme.observations});
  }
  section.add("schemes", std::move(table));
}

constexpr std::array kSiteColumns = {
    count("count", "Sum of the site's counts."), kScheme, kValues, kSite, kSiteFunction, kPlace};
constexpr std::array kLastColumns = {number_id("last", "When it was seen last.").titled("TIME"),
                                     kScheme,
                                     kValues,
                                     kSite,
                                     kSiteFunction,
                                     kPlace};
constexpr std::array kBusyMembers = {rows("sites", kSiteColumns, "The largest counts first.")};
constexpr std::array kOneWayMembers = {rows("one_way", kSiteColumns, "The largest counts first.")};
constexpr std::array kLastMembers = {rows("last", kLastColumns, "The last first.")};

Table sites_table(const TableSchema& schema, const LargestSites& sites) {
  Table table(schema);
  for (const auto& [rank, site] : sites.kept())
    table.add_row({rank, site.scheme, site.values, site.words, site.function, site.place});
  return table;
}

void make_busy_sites(const ReportInput& input, Section& section) {
  section.add("sites", sites_table(kSiteColumns, input.sites->busiest));
}
void make_one_way(const ReportInput& input, Section& section) {
  section.add("one_way", sites_table(kSiteColumns, input.sites->one_way));
}
void make_last(const ReportInput& input, Section& section) {
  section.add("last", sites_table(kLastColumns, input.sites->last));
}

constexpr std::array kFunctionColumns = {
    count("observations", "Sum of the counts of its sites.").titled("COUNTS"),
    count("observed", "Its sites with a count."),
    count("sites", "Its sites.").titled("OF SITES"),
    kSiteFunction,
    text("file", "Source file."),
};
constexpr std::array kFunctionsMembers = {
    rows("functions", kFunctionColumns, "The largest counts first.")};

void make_functions(const ReportInput& input, Section& section) {
  Table table(kFunctionColumns);
  for (const SiteSums::Function& function : input.sites->sums.functions()) {
    if (table.rows() == input.sites->options.rows || function.observed == 0) break;
    table.add_row(
        {function.observations, function.observed, function.sites, function.name, function.file});
  }
  section.add("functions", std::move(table));
}

constexpr std::array kFrames = {
    text("report", "The feedback report."),
    address("address", "Return address in the module."),
    text("module", "Program or shared library."),
    text("function", "Function; empty if unknown."),
    text("place", "FILE:LINE; empty if unknown."),
};
constexpr std::array kBacktraceMembers = {
    rows("backtrace", kFrames, "Frames, the innermost first.")};

void make_backtrace(const ReportInput& input, Section& section) {
  SiteReadings& in = *input.sites;
  Table table(kFrames);
  BacktraceResolver resolver(in.options.programs);
  for (const SamplerReports::Subreport& subreport : in.source.subreports()) {
    if (subreport.id != sampler::kBacktraceReport) continue;
    sampler::for_each_line(subreport.text, [&](std::string_view line, size_t) {
      const auto frame = sampler::parse_backtrace_frame(line);
      if (!frame) return;
      const ResolvedFrame resolved = resolver.resolve(*frame);
      // Falls back to the names that the program itself resolved.
      const std::string function =
          resolved.function.empty() ? demangle(frame->symbol) : resolved.function;
      table.add_row({subreport.file, resolved.address, resolved.module, function,
                     resolved.file.empty() ? std::string()
                                           : fmt::format("{}:{}", resolved.file, resolved.line)});
    });
  }
  section.add("backtrace", std::move(table));
  if (!in.options.programs.empty()) in.remark = resolver.mismatch();
}

}  // namespace

constinit const Report kSiteTotals{.name = "reports",
                                   .title = "Feedback reports",
                                   .sentence = "All reports together.",
                                   .needs = Capability::counts_at_sites,
                                   .members = kTotals,
                                   .make = make_totals};

constinit const Report kSchemes{.name = "schemes",
                                .title = "By scheme",
                                .sentence = "By scheme.",
                                .needs = Capability::counts_at_sites,
                                .members = kSchemesMembers,
                                .make = make_schemes};

constinit const Report kBusySites{.name = "sites",
                                  .title = "Busiest sites",
                                  .sentence = "Busiest sites.",
                                  .needs = Capability::counts_at_sites,
                                  .members = kBusyMembers,
                                  .make = make_busy_sites};

constinit const Report kSiteFunctions{.name = "functions",
                                      .title = "Busiest functions",
                                      .sentence = "Busiest functions.",
                                      .needs = Capability::counts_at_sites,
                                      .members = kFunctionsMembers,
                                      .make = make_functions};

constinit const Report kOneWay{.name = "one_way",
                               .title = "Branches that always went one way",
                               .sentence = "Branches that always went one way.",
                               .needs = Capability::counts_at_sites,
                               .members = kOneWayMembers,
                               .make = make_one_way};

constinit const Report kLastSites{.name = "last",
                                  .title = "Sites seen last",
                                  .sentence = "Sites seen last.",
                                  .needs = Capability::counts_at_sites,
                                  .members = kLastMembers,
                                  .make = make_last};

constinit const Report kBacktrace{.name = "backtrace",
                                  .title = "Backtrace of the crash",
                                  .sentence = "Backtraces of crashes.",
                                  .needs = Capability::counts_at_sites,
                                  .members = kBacktraceMembers,
                                  .make = make_backtrace};

}  // namespace reports
}  // namespace telltale
