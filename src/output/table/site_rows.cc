#include "output/table/site_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analysis/sites/site_sums.h"
#include "output/escape.h"
#include "output/table/field.h"

namespace telltale {
namespace {

// Of any documented scheme.
constexpr size_t kCsvValues = 9;

void write_estimates(ObjectWriter& row, const CountedSite& site, uint64_t sparsity) {
  row.add("sampled_one_in", sparsity).map("estimates", [&](MapWriter& estimates) {
    for (size_t i = 0; i < site.counts.size(); ++i) {
      const Estimate guess = estimate(site.counts[i], static_cast<double>(sparsity));
      estimates.object(site.scheme->counters[i], [&](ObjectWriter& object) {
        object.add("count", guess.value).add("margin", guess.margin);
      });
    }
  });
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

std::string site_estimates(const CountedSite& site, uint64_t sparsity) {
  std::string estimates;
  if (site.scheme->bounds) return estimates;
  for (size_t i = 0; i < site.counts.size(); ++i) {
    const Estimate guess = estimate(site.counts[i], static_cast<double>(sparsity));
    estimates += fmt::format("{}{} {:.0f} +- {:.0f}", i == 0 ? "" : ", ", site.scheme->counters[i],
                             guess.value, guess.margin);
  }
  return estimates;
}

void write_site(ObjectWriter& row, const CountedSite& site, uint64_t sparsity) {
  const SiteScheme& scheme = *site.scheme;
  row.add("program", site.program).add("unit", site.unit).add("scheme", scheme.name);
  row.add("site", site.index).add("file", site.file).add("line", site.line);
  row.add("function", site.function).add("cfg", site.graph_number);
  row.map("columns", [&](MapWriter& columns) {
    for (size_t i = 0; i < std::min(site.column_count, scheme.columns.size()); ++i)
      columns.add(scheme.columns[i], site.columns[i]);
  });
  row.map("values", [&](MapWriter& values) {
    if (scheme.bounds) {
      values.add("minimum", site.minimum).add("maximum", site.maximum);
      return;
    }
    for (size_t i = 0; i < site.counts.size(); ++i) values.add(scheme.counters[i], site.counts[i]);
  });
  row.add("reported", site.reported).add("observed", site.observed);
  row.add("first", site.first_time).add("last", site.last_time);
  if (sparsity > 1 && !scheme.bounds) write_estimates(row, site, sparsity);
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
