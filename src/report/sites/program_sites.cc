#include "report/sites/program_sites.h"

#include <fmt/format.h>

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

}  // namespace

Result<ProgramSites> ProgramSites::open(const std::string& path, ProblemLog& problems) {
  ProgramSites program;
  const Result<bool> added = program.sites_.add(path, {}, problems);
  if (!added) return std::unexpected(added.error());
  return program;
}

std::map<std::string, uint64_t> ProgramSites::by_scheme() const {
  std::map<std::string, uint64_t> schemes;
  for (const SamplerSites::Section& section : sites_.sections())
    schemes[std::string(section.sites->scheme)] += section.sites->size();
  return schemes;
}

std::string ProgramSites::summary() const {
  if (sites_.sections().empty()) return {};
  std::set<std::string_view> units;
  for (const SamplerSites::Section& section : sites_.sections()) units.insert(section.sites->unit);
  std::string text =
      fmt::format("{} sites in {} unit{}", count(), units.size(), units.size() == 1 ? "" : "s");
  const char* separator = " (";
  for (const auto& [scheme, sites] : by_scheme()) {
    text += fmt::format("{}{} {}", separator, visible(scheme), sites);
    separator = ", ";
  }
  return text + ")";
}

std::vector<Table::Column> sampler_site_columns(bool with_program) {
  std::vector<Table::Column> columns;
  if (with_program) columns.push_back({"program", "program", Show::text});
  columns.insert(columns.end(), {{"unit", "unit", Show::text},
                                 {"scheme", "scheme", Show::text},
                                 {"site", "site", Show::plain},
                                 {"place", "place", Show::text},
                                 {"function", "function", Show::text},
                                 {"cfg", "cfg", Show::text},
                                 {"columns", "columns", Show::text}});
  return columns;
}

std::vector<Table::Cell> ProgramSites::cells_of(const sampler::SitesSection& section, size_t i,
                                                const std::string* program, size_t unit_digits) {
  const sampler::SiteRow row = section.row(i);
  std::vector<Table::Cell> cells;
  if (program != nullptr) cells.emplace_back(*program);
  cells.insert(cells.end(),
               {std::string(section.unit.substr(0, unit_digits)), std::string(section.scheme),
                uint64_t{i}, fmt::format("{}:{}", row.file(), row.line_number()),
                std::string(row.function()), std::string(row.graph_number()), words_of(row)});
  return cells;
}

void ProgramSites::write_row(JsonWriter& json, const sampler::SitesSection& section, size_t i) {
  const sampler::SiteRow row = section.row(i);
  const sampler::SchemeLayout* scheme = sampler::find_scheme(section.scheme);
  json.begin_object();
  json.member("unit", section.unit).member("scheme", section.scheme).member("site", i);
  json.member("file", row.file());
  json.member("line", sampler::parse_unsigned(row.line_number()).value_or(0));
  json.member("function", row.function()).member("cfg", row.graph_number());
  json.key("columns").begin_object();
  for (size_t c = sampler::kCommonColumns; c < row.column_count; ++c) {
    const size_t extra = c - sampler::kCommonColumns;
    json.member(scheme != nullptr && extra < scheme->columns
                    ? std::string(scheme->column_names[extra])
                    : fmt::format("column {}", extra + 1),
                row.columns[c]);
  }
  json.end_object().end_object();
}

}  // namespace telltale
