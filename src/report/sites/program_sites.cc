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

std::span<const Field> ProgramSites::columns() {
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

void ProgramSites::add_rows(const std::string& program, size_t unit_digits, RowSink& rows) const {
  for (const SamplerSites::Section& section : sites_.sections()) {
    const sampler::SitesSection& sites = *section.sites;
    for (size_t i = 0; i < sites.size(); ++i) {
      const sampler::SiteRow row = sites.row(i);
      const std::array<TableCell, 8> cells = {program,
                                              std::string(sites.unit.substr(0, unit_digits)),
                                              std::string(sites.scheme),
                                              uint64_t{i},
                                              fmt::format("{}:{}", row.file(), row.line_number()),
                                              std::string(row.function()),
                                              std::string(row.graph_number()),
                                              words_of(row)};
      rows.add(cells);
    }
  }
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
