#include "report/sites/site_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/line_counts.h"
#include "analysis/site_sums.h"
#include "output/lcov.h"
#include "output/site_rows.h"
#include "output/table/json_document.h"
#include "output/table_text.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

// Where a site is told, and what it is sorted by.
struct TopRow {
  uint64_t total = 0;
  const SamplerReports::Section* section = nullptr;
  size_t row = 0;
};

std::vector<Table::Cell> top_cells(const CountedSite& site, uint64_t sparsity) {
  std::vector<Table::Cell> cells = {site.scheme->bounds ? Table::Cell()
                                                        : Table::Cell(site.total())};
  if (sparsity > 1) {
    const Estimate guess = estimate(site.total(), static_cast<double>(sparsity));
    const bool bounds = site.scheme->bounds;
    cells.push_back(bounds ? Table::Cell() : Table::Cell(guess.value));
    cells.push_back(bounds ? Table::Cell() : Table::Cell(guess.margin));
  }
  cells.insert(cells.end(), {Table::Cell(site.scheme->name), Table::Cell(site_values(site)),
                             Table::Cell(site_words(site)), Table::Cell(std::string(site.function)),
                             Table::Cell(site_place(site))});
  return cells;
}

std::vector<Table::Column> top_columns(uint64_t sparsity) {
  std::vector<Table::Column> columns = {{"count", "COUNT"}};
  if (sparsity > 1) columns.insert(columns.end(), {{"estimate", "ESTIMATE"}, {"margin", "+-"}});
  columns.insert(columns.end(), {{"scheme", "SCHEME", Show::text},
                                 {"values", "VALUES", Show::text},
                                 {"site", "SITE", Show::text},
                                 {"function", "FUNCTION", Show::text},
                                 {"place", "PLACE", Show::text}});
  return columns;
}

}  // namespace

bool SiteFilter::keeps(const CountedSite& site) {
  if (options_.observed && !site.observed) return false;
  if (!options_.schemes.empty() &&
      std::ranges::find(options_.schemes, site.scheme->name) == options_.schemes.end())
    return false;
  if (filter_.functions.empty()) return true;
  if (function_.empty() || function_ != site.function) {
    function_ = site.function;
    FunctionInfo info;
    info.name = function_;
    kept_ = filter_.matches(info);
  }
  return kept_;
}

void write_top_sites(const SamplerReports& reports, const CallFilter& filter,
                     const CountsOptions& options, const TopSites& wanted, BlockWriter& out) {
  SiteFilter kept(filter, options);
  std::vector<TopRow> rows;
  for (const SamplerReports::Section& section : reports.sections()) {
    reports.for_each_site(section, [&](const CountedSite& site) {
      if (site.reported && kept.keeps(site)) rows.push_back({site.total(), &section, site.index});
    });
  }
  std::ranges::stable_sort(rows, std::greater(), &TopRow::total);
  const size_t found = rows.size();
  if (wanted.limit != 0 && found > wanted.limit) rows.resize(wanted.limit);
  const std::vector<Table::Column> columns = top_columns(options.sparsity);
  const auto tell = [&](auto use) {
    for (const TopRow& row : rows) {
      reports.tell_site(*row.section, row.row, [&](const CountedSite& site) {
        use(std::span<const Table::Cell>(top_cells(site, options.sparsity)));
      });
    }
  };
  if (wanted.json) {
    JsonWriter json(out.block(), 2);
    begin_document(json, schemas::kTopSites, wanted.format);
    json.key("rows").begin_array();
    tell([&](std::span<const Table::Cell> row) {
      write_json_row(columns, row, json);
      out.flush_if_full();
    });
    json.end_array();
    end_document(json, reports.problems());
  } else if (wanted.csv) {
    stream_csv(columns, tell, out);
  } else {
    stream_text(columns, tell, out);
    if (rows.size() < found)
      out.write(fmt::format("{} of {} rows; --limit 0 shows all\n", rows.size(), found));
  }
}

Result<void> write_sites_document(const SamplerReports& reports, const CallFilter& filter,
                                  const CountsOptions& options, std::string_view format,
                                  const ByteSink& sink) {
  SiteFilter kept(filter, options);
  BlockWriter out(sink);
  JsonWriter json(out.block(), 2);
  begin_document(json, schemas::kResolve, format);
  json.key("rows").begin_array();
  reports.for_each_site(true, [&](const CountedSite& site) {
    if (kept.keeps(site)) write_site_json(json, site, options.sparsity);
    out.flush_if_full();
  });
  json.end_array();
  end_document(json, reports.problems());
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
      json.begin_array();
      reports.for_each_site(true, [&](const CountedSite& site) {
        if (kept.keeps(site)) write_site_json(json, site, options.sparsity);
        out.flush_if_full();
      });
      json.end_array();
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
            "LCOV needs sites of branches, coverage or function-entries with their places: give "
            "the programs by --program");
      }
      return write_lcov(lines, {options.sparsity}, sink);
    }
    default:
      return usage_error(fmt::format("{} is not made from counts", output_name(format).name));
  }
}

}  // namespace telltale
