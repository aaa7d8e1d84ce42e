#include "output/table/site_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analysis/sites/site_sums.h"
#include "output/escape.h"

namespace telltale {
namespace {

// Of any documented scheme.
constexpr size_t kCsvValues = 9;

void write_values(JsonWriter& json, const CountedSite& site) {
  json.key("values").begin_object();
  if (site.scheme->bounds) {
    json.member("minimum", site.minimum).member("maximum", site.maximum);
  } else {
    for (size_t i = 0; i < site.counts.size(); ++i)
      json.member(site.scheme->counters[i], site.counts[i]);
  }
  json.end_object();
}

void write_estimates(JsonWriter& json, const CountedSite& site, uint64_t sparsity) {
  json.member("sampled_one_in", sparsity);
  json.key("estimates").begin_object();
  for (size_t i = 0; i < site.counts.size(); ++i) {
    const Estimate guess = estimate(site.counts[i], static_cast<double>(sparsity));
    json.key(site.scheme->counters[i]).begin_object();
    json.member("count", guess.value).member("margin", guess.margin).end_object();
  }
  json.end_object();
}

void append_field(std::string& out, std::string_view text) {
  out += ',';
  append_csv(out, text);
}

template <typename Number>
void append_number(std::string& out, Number number) {
  out += ',';
  out += fmt::format("{}", number);
}

}  // namespace

std::string site_place(const CountedSite& site) {
  if (site.text.empty()) return fmt::format("unit {}, site {}", site.unit, site.index);
  return fmt::format("{}:{}", site.file, site.line);
}

std::string site_words(const CountedSite& site) {
  std::string words;
  for (size_t i = 0; i < site.column_count; ++i) {
    if (i != 0) words += ' ';
    words += site.columns[i];
  }
  return words;
}

std::string site_values(const CountedSite& site) {
  if (site.scheme->bounds)
    return site.observed ? fmt::format("{} to {}", site.minimum, site.maximum) : "none";
  std::string values;
  for (size_t i = 0; i < site.counts.size(); ++i) {
    values += fmt::format("{}{} {}", i == 0 ? "" : ", ", site.scheme->counters[i], site.counts[i]);
  }
  return values;
}

void write_site_json(JsonWriter& json, const CountedSite& site, uint64_t sparsity) {
  json.begin_object();
  json.member("program", site.program).member("unit", site.unit);
  json.member("scheme", site.scheme->name).member("site", site.index);
  json.member("file", site.file).member("line", site.line).member("function", site.function);
  json.member("cfg", site.graph_number);
  json.key("columns").begin_object();
  for (size_t i = 0; i < std::min(site.column_count, site.scheme->columns.size()); ++i)
    json.member(site.scheme->columns[i], site.columns[i]);
  json.end_object();
  write_values(json, site);
  json.member("reported", site.reported).member("observed", site.observed);
  json.member("first", site.first_time).member("last", site.last_time);
  if (sparsity > 1 && !site.scheme->bounds) write_estimates(json, site, sparsity);
  json.end_object();
}

std::string site_csv_header() {
  std::string header = "program,unit,scheme,site,file,line,function,cfg";
  for (size_t i = 1; i <= CountedSite::kMaxColumns; ++i) header += fmt::format(",column_{}", i);
  for (size_t i = 1; i <= kCsvValues; ++i) header += fmt::format(",value_{}", i);
  return header + ",observed,first,last,sampled_one_in\n";
}

void append_site_csv(std::string& out, const CountedSite& site, uint64_t sparsity) {
  append_csv(out, site.program);
  append_field(out, site.unit);
  append_field(out, site.scheme->name);
  append_number(out, site.index);
  append_field(out, site.file);
  append_number(out, site.line);
  append_field(out, site.function);
  append_field(out, site.graph_number);
  for (const std::string_view column : site.columns) append_field(out, column);
  for (size_t i = 0; i < kCsvValues; ++i) {
    if (site.scheme->bounds) {
      append_field(out, i == 0 ? site.minimum : i == 1 ? site.maximum : std::string_view());
    } else if (i < site.counts.size()) {
      append_number(out, site.counts[i]);
    } else {
      out += ',';
    }
  }
  append_number(out, site.observed ? 1 : 0);
  append_number(out, site.first_time);
  append_number(out, site.last_time);
  append_number(out, std::max<uint64_t>(sparsity, 1));
  out += '\n';
}

}  // namespace telltale
