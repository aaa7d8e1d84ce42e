#include "report/sites/program_sites.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "formats/sampler/counter_rows.h"
#include "output/escape.h"

namespace telltale {
namespace {

std::string words_of(const sampler::SiteRow& row) {
  std::string words;
  for (size_t i = sampler::kCommonColumns; i < row.column_count; ++i) {
    if (!words.empty()) words += ' ';
    words += row.columns[i];
  }
  return words;
}

void write_site_row(const sampler::SitesSection& section, size_t index, ObjectWriter& object) {
  const sampler::SiteRow row = section.row(index);
  const sampler::SchemeLayout* scheme = sampler::find_scheme(section.scheme);
  object.add("unit", section.unit).add("scheme", section.scheme).add("site", index);
  object.add("file", row.file());
  object.add("line", sampler::parse_unsigned(row.line_number()).value_or(0));
  object.add("function", row.function()).add("cfg", row.graph_number());
  object.map("columns", [&](MapWriter& columns) {
    for (size_t c = sampler::kCommonColumns; c < row.column_count; ++c) {
      const size_t extra = c - sampler::kCommonColumns;
      columns.add(scheme != nullptr && extra < scheme->columns
                      ? std::string(scheme->column_names[extra])
                      : fmt::format("column {}", extra + 1),
                  row.columns[c]);
    }
  });
}

}  // namespace

std::map<std::string, uint64_t> count_by_scheme(const SamplerSites& sites) {
  std::map<std::string, uint64_t> schemes;
  for (const SamplerSites::Section& section : sites.sections())
    schemes[std::string(section.sites->scheme)] += section.sites->size();
  return schemes;
}

std::string describe_sites(const SamplerSites& sites) {
  if (sites.sections().empty()) return {};
  std::set<std::string_view> units;
  for (const SamplerSites::Section& section : sites.sections()) units.insert(section.sites->unit);
  std::string text = fmt::format("{} sites in {} unit{}", sites.site_count(), units.size(),
                                 units.size() == 1 ? "" : "s");
  const char* separator = " (";
  for (const auto& [scheme, count] : count_by_scheme(sites)) {
    text += fmt::format("{}{} {}", separator, visible(scheme), count);
    separator = ", ";
  }
  return text + ")";
}

std::span<const Field> site_columns() {
  static constexpr std::array kColumns = {
      field::text("program", "The program, as it was named.").titled("program"),
      field::text("unit", "Signature of the compilation unit.").titled("unit"),
      field::text("scheme", "Instrumentation scheme.").titled("scheme"),
      field::number_id("site", "Number of the site in its unit and scheme.").titled("site"),
      field::text("place", "FILE:LINE.").titled("place"),
      field::text("function", "Function around the site.").titled("function"),
      field::text("cfg", "Node of the control flow graph.").titled("cfg"),
      field::text("columns", "What the scheme tells of the site.").titled("columns"),
  };
  return kColumns;
}

void add_site_rows(const SamplerSites& sites, const std::string& program, size_t unit_digits,
                   RowSink& rows) {
  for (const SamplerSites::Section& section : sites.sections()) {
    const sampler::SitesSection& table = *section.sites;
    for (size_t i = 0; i < table.size(); ++i) {
      const sampler::SiteRow row = table.row(i);
      const std::array<TableCell, 8> cells = {program,
                                              std::string(table.unit.substr(0, unit_digits)),
                                              std::string(table.scheme),
                                              uint64_t{i},
                                              fmt::format("{}:{}", row.file(), row.line_number()),
                                              std::string(row.function()),
                                              std::string(row.graph_number()),
                                              words_of(row)};
      rows.add(cells);
    }
  }
}

void write_site_rows(const SamplerSites& sites, ListWriter& rows) {
  for (const SamplerSites::Section& section : sites.sections()) {
    for (size_t i = 0; i < section.sites->size(); ++i)
      rows.row([&](ObjectWriter& object) { write_site_row(*section.sites, i, object); });
  }
}

}  // namespace telltale
