// `report` of feedback reports.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/site_sums.h"
#include "import/sampler/sampler_backtrace.h"
#include "output/escape.h"
#include "output/section.h"
#include "output/site_rows.h"
#include "program/demangle.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_answers.h"

namespace telltale {
namespace {

struct Busy {
  uint64_t count = 0;
  std::string scheme;
  std::string values;
  std::string words;
  std::string function;
  std::string place;
  uint64_t last = 0;
};

Busy describe(const CountedSite& site) {
  return {site.total(),     site.scheme->name,          site_values(site),
          site_words(site), std::string(site.function), site_place(site),
          site.last_time};
}

// Holds the `rows` largest by some number; ties in the order in which they came.
class Largest {
 public:
  explicit Largest(size_t rows) : rows_(rows) {}
  void offer(uint64_t rank, const CountedSite& site) {
    if (rank == 0 || rows_ == 0) return;
    if (kept_.size() == rows_ && rank <= kept_.back().first) return;
    const auto place =
        std::ranges::upper_bound(kept_, rank, std::greater(), &std::pair<uint64_t, Busy>::first);
    kept_.insert(place, {rank, describe(site)});
    if (kept_.size() > rows_) kept_.pop_back();
  }
  [[nodiscard]] const std::vector<std::pair<uint64_t, Busy>>& kept() const { return kept_; }

 private:
  size_t rows_;
  std::vector<std::pair<uint64_t, Busy>> kept_;
};

Table sites_table(const Largest& sites, std::string key, std::string title) {
  Table table({{std::move(key), std::move(title)},
               {"scheme", "SCHEME", Show::text},
               {"values", "VALUES", Show::text},
               {"site", "SITE", Show::text},
               {"function", "FUNCTION", Show::text},
               {"place", "PLACE", Show::text}});
  for (const auto& [rank, site] : sites.kept())
    table.add_row({rank, site.scheme, site.values, site.words, site.function, site.place});
  return table;
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Section schemes_section(const SiteSums& sums) {
  Section section{"schemes", "By scheme", {}, {}};
  Table table({{"scheme", "SCHEME", Show::text},
               {"sites", "SITES"},
               {"observed", "OBSERVED"},
               {"observed_share", "OF SITES", Show::percent},
               {"observations", "COUNTS"}});
  for (const SiteSums::Scheme& scheme : sums.schemes()) {
    table.add_row({scheme.name, scheme.sites, scheme.observed, share(scheme.observed, scheme.sites),
                   scheme.observations});
  }
  section.add("schemes", "", std::move(table));
  return section;
}

Section functions_section(const SiteSums& sums, size_t rows) {
  Section section{"functions", "Busiest functions", {}, {}};
  Table table({{"observations", "COUNTS"},
               {"observed", "OBSERVED"},
               {"sites", "OF SITES"},
               {"function", "FUNCTION", Show::text},
               {"file", "FILE", Show::text}});
  for (const SiteSums::Function& function : sums.functions()) {
    if (table.rows() == rows || function.observed == 0) break;
    table.add_row(
        {function.observations, function.observed, function.sites, function.name, function.file});
  }
  section.add("functions", "", std::move(table));
  return section;
}

Section backtrace_section(const SamplerReports& reports, const SamplerReportOptions& wanted) {
  Section section{"backtrace", "Backtrace of the crash", {}, {}};
  Table table({{"report", "REPORT", Show::text},
               {"address", "ADDRESS", Show::text},
               {"module", "MODULE", Show::text},
               {"function", "FUNCTION", Show::text},
               {"place", "PLACE", Show::text}});
  BacktraceResolver resolver(wanted.programs);
  for (const SamplerReports::Subreport& subreport : reports.subreports()) {
    if (subreport.id != sampler::kBacktraceReport) continue;
    sampler::for_each_line(subreport.text, [&](std::string_view line, size_t) {
      const auto frame = sampler::parse_backtrace_frame(line);
      if (!frame) return;
      const ResolvedFrame resolved = resolver.resolve(*frame);
      // What the program knew itself is better than nothing.
      const std::string function =
          resolved.function.empty() ? demangle(frame->symbol) : resolved.function;
      table.add_row({subreport.file, resolved.address, resolved.module, function,
                     resolved.file.empty() ? std::string()
                                           : fmt::format("{}:{}", resolved.file, resolved.line)});
    });
  }
  section.add("backtrace", "", std::move(table));
  if (const std::string mismatch = resolver.mismatch();
      !mismatch.empty() && !wanted.programs.empty())
    fmt::print(stderr, "telltale: {}\n", visible(mismatch));
  return section;
}

Section all_section(const SamplerReports& reports, const SiteSums& sums, uint64_t sparsity) {
  Section section{"reports", "Feedback reports", {}, {}};
  const SiteSums::Scheme all = sums.all();
  section.add("files", "files", uint64_t{reports.report_count()});
  section.add("sites", "sites", all.sites);
  section.add("observed", "observed sites", all.observed);
  section.add("observations", "counts", all.observations);
  if (sparsity > 1) {
    const Estimate guess = estimate(all.observations, static_cast<double>(sparsity));
    section.add("sampled_one_in", "one counted in", sparsity);
    section.add("estimate", "so there were about", guess.value);
    section.add("margin", "give or take (95 %)", guess.margin);
  }
  section.add("unresolved", "sections without site information", reports.unresolved_sections());
  section.add("unreported_units", "units of the programs without a report",
              reports.unreported_units());
  section.add("uneven", "sections that do not fit it", reports.uneven_sections());
  section.add("damaged_places", "damaged places",
              reports.problems().damage_count() - reports.unresolved_problems());
  if (const std::string_view note = reports.nothing_observed(); !note.empty())
    section.add("note", "note", std::string(note));
  return section;
}

}  // namespace

Result<void> summarise_reports(const SamplerReports& reports, const CallFilter& filter,
                               const CountsOptions& options, const SamplerReportOptions& wanted,
                               BlockWriter& out) {
  SiteFilter kept(filter, options);
  SiteSums sums;
  Largest busiest(wanted.rows);
  Largest one_way(wanted.rows);
  Largest last(wanted.rows);
  reports.for_each_site(false, [&](const CountedSite& site) {
    if (!kept.keeps(site)) return;
    sums.on(site);
    busiest.offer(site.total(), site);
    last.offer(site.last_time, site);
    const bool branch = site.scheme->name == "branches" && site.observed;
    if (branch && (site.counts[0] == 0 || site.counts[1] == 0)) one_way.offer(site.total(), site);
  });
  std::vector<Section> sections;
  sections.push_back(all_section(reports, sums, options.sparsity));
  sections.push_back(schemes_section(sums));
  sections.push_back({"sites", "Busiest sites", {}, {}});
  sections.back().add("sites", "", sites_table(busiest, "count", "COUNT"));
  sections.push_back(functions_section(sums, wanted.rows));
  sections.push_back({"one_way", "Branches that always went one way", {}, {}});
  sections.back().add("one_way", "", sites_table(one_way, "count", "COUNT"));
  sections.push_back({"last", "Sites seen last", {}, {}});
  sections.back().add("last", "", sites_table(last, "last", "TIME"));
  sections.push_back(backtrace_section(reports, wanted));
  if (wanted.csv) return write_section_csv(sections, wanted.table, out);
  if (wanted.json) {
    write_sections_json(sections, schemas::kReportSites, wanted.format, reports.problems(), out);
    return {};
  }
  for (const std::string& file : reports.info().files) out.write(visible(file) + "\n");
  out.write("\n");
  std::erase_if(sections, [](const Section& section) {
    return section.facts.empty() && section.tables.front().table.rows() == 0;
  });
  write_sections_text(sections, out);
  return {};
}

}  // namespace telltale
