#include "report/sites/top_sites.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "analysis/sites/site_sums.h"
#include "base/sort_rows.h"
#include "output/table/json_document.h"
#include "output/table/site_rows.h"
#include "output/table/write_rows.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_fields.h"

namespace telltale {
namespace {

using namespace reports;

constexpr std::array kTopSiteColumns = {
    field::count("count", "Sum of the site's counts; null for bounds.").or_null(),
    field::number("estimate", Unit::count, "With --sparsity: what the count is an estimate of.")
        .or_null()
        .sometimes(),
    field::number("margin", Unit::count,
                  "With --sparsity: half of the 95 % interval if executions were observed "
                  "independently (-fno-sample-regions); otherwise it is wider.")
        .titled("+-")
        .or_null()
        .sometimes(),
    kScheme,
    kValues,
    kSite,
    kSiteFunction,
    kPlace,
};
constexpr std::array kTopSitesMembers = {
    field::rows("rows", kTopSiteColumns, "Sites, the largest counts first.")};

// A printed site and its sort key.
struct TopRow {
  uint64_t total = 0;
  const SamplerReports::Section* section = nullptr;
  size_t row = 0;
};

std::array<TableCell, kTopSiteColumns.size()> top_cells(const CountedSite& site,
                                                        uint64_t sparsity) {
  std::array<TableCell, kTopSiteColumns.size()> cells;
  if (!site.scheme->bounds) {
    const Estimate guess = estimate(site.total(), static_cast<double>(sparsity));
    cells[0] = site.total();
    cells[1] = guess.value;
    cells[2] = guess.margin;
  }
  cells[3] = site.scheme->name;
  cells[4] = site_values(site);
  cells[5] = site_words(site);
  cells[6] = std::string(site.function);
  cells[7] = site_place(site);
  return cells;
}

}  // namespace

void write_top_sites(const SamplerReports& reports, const CallFilter& filter,
                     const CountsOptions& options, const TopSites& wanted, BlockWriter& out) {
  SiteFilter kept(filter, options);
  std::vector<TopRow> top;
  for (const SamplerReports::Section& section : reports.sections()) {
    reports.for_each_site(section, [&](const CountedSite& site) {
      if (site.reported && kept.keeps(site)) top.push_back({site.total(), &section, site.index});
    });
  }
  sort_rows(top, std::greater(), &TopRow::total);
  const size_t found = top.size();
  if (wanted.limit != 0 && found > wanted.limit) top.resize(wanted.limit);
  TableSchema schema(kTopSiteColumns);
  if (options.sparsity <= 1) schema.leave_out({"estimate", "margin"});
  const Rows rows = [&](RowSink& sink) {
    for (const TopRow& row : top) {
      reports.tell_site(*row.section, row.row, [&](const CountedSite& site) {
        sink.add(top_cells(site, options.sparsity));
      });
    }
  };
  if (wanted.json) {
    write_rows_document(schemas::kTopSites, wanted.format, schema, rows, reports.problems(), out);
  } else if (wanted.csv) {
    CsvSink sink(schema, out);
    rows(sink);
  } else {
    write_text(schema, rows, out);
    if (top.size() < found)
      out.write(fmt::format("{} of {} rows; --limit 0 shows all\n", top.size(), found));
  }
}

constinit const DocumentSchema schemas::kTopSites{
    "top-sites", 1, "The sites with the largest counts.", true, kTopSitesMembers};

}  // namespace telltale
