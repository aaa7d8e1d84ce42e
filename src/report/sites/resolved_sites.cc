#include "report/sites/resolved_sites.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "analysis/sites/line_counts.h"
#include "output/lcov.h"
#include "output/table/object_writer.h"
#include "output/table/site_rows.h"
#include "output/table/write_rows.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_fields.h"

namespace telltale {
namespace {

constexpr std::array kColumns = {
    reports::kScheme,
    reports::kPlace,
    reports::kSiteFunction,
    reports::kSite,
    reports::kValues,
    field::text("estimates", "With --sparsity: what the counts are estimates of, with margins."),
    field::number_id("first", "When it was seen first; 0 if not recorded."),
    field::number_id("last", "When it was seen last; 0 if not recorded."),
};

void add_rows(const SamplerReports& reports, SiteFilter& kept, const CountsOptions& options,
              ListWriter& rows) {
  reports.for_each_site(true, [&](const CountedSite& site) {
    if (kept.keeps(site))
      rows.row([&](ObjectWriter& row) { write_site(row, site, options.sparsity); });
  });
}

}  // namespace

Result<void> write_sites_text(const SamplerReports& reports, const CallFilter& filter,
                              const CountsOptions& options, const ByteSink& sink) {
  bool times = false;
  for (const SamplerReports::Section& section : reports.sections())
    times = times || section.tells_first || section.tells_last;
  TableSchema schema(kColumns);
  if (!times) schema.leave_out({"first", "last"});
  if (options.sparsity <= 1) schema.leave_out({"estimates"});
  SiteFilter kept(filter, options);
  BlockWriter out(sink);
  const Rows rows = [&](RowSink& to) {
    reports.for_each_site(false, [&](const CountedSite& site) {
      if (!kept.keeps(site)) return;
      const std::array<TableCell, kColumns.size()> cells = {
          site.scheme->name,
          site_place(site),
          std::string(site.function),
          site_words(site),
          site_values(site),
          options.sparsity > 1 ? site_estimates(site, options.sparsity) : std::string(),
          site.first_time,
          site.last_time};
      to.add(cells);
    });
  };
  write_text(schema, rows, out);
  return out.finish();
}

Result<void> write_sites_document(const SamplerReports& reports, const CallFilter& filter,
                                  const CountsOptions& options, std::string_view format,
                                  const ByteSink& sink) {
  SiteFilter kept(filter, options);
  BlockWriter out(sink);
  JsonWriter json(out.block(), 2);
  DocumentWriter document(json, schemas::kResolve, format, &out);
  document.list("rows", [&](ListWriter& rows) { add_rows(reports, kept, options, rows); });
  document.finish(reports.problems());
  return out.finish();
}

Result<void> convert_reports(const SamplerReports& reports, const CallFilter& filter,
                             const CountsOptions& options, ExportFormat format,
                             const ByteSink& sink) {
  SiteFilter kept(filter, options);
  BlockWriter out(sink);
  switch (format) {
    case ExportFormat::json: {
      JsonWriter json(out.block(), 1);
      const Field& rows = schemas::kResolve.members.front();
      ListWriter::write(json, rows, &out,
                        [&](ListWriter& list) { add_rows(reports, kept, options, list); });
      return out.finish();
    }
    case ExportFormat::csv:
      out.write(site_csv_header());
      reports.for_each_site(true, [&](const CountedSite& site) {
        if (kept.keeps(site)) append_site_csv(out.block(), site, options.sparsity);
        out.flush_if_full();
      });
      return out.finish();
    case ExportFormat::lcov: {
      LineCounts lines;
      reports.for_each_site(true, [&](const CountedSite& site) {
        if (kept.keeps(site)) lines.on(site);
      });
      if (lines.used_sites() == 0) {
        return usage_error(
            "LCOV needs sites of branches, coverage or function-entries with source locations: "
            "name the programs by --program");
      }
      return write_lcov(lines, {options.sparsity}, sink);
    }
    default:
      return usage_error(fmt::format("counts cannot be written as {}", output_name(format).name));
  }
}

}  // namespace telltale
