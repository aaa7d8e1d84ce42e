#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/sampler/backtrace.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/site_info.h"

namespace telltale::sampler {

// The grammar of every record of Sampler's texts, written once: fields(codec, record) lists the
// fields of a record in the order of the text. The readers split lines and tags into these records.
// A codec provides:
//   number(name, value), flag(name, value)
//   text(name, value), text_if_any(name, value)      the latter only if it is not empty
//   numbers(name, values), texts(name, values)       lists; nothing for an empty one
//   address(name, value)
//   signed_offset(name, negative, value)             of a function: "+0x1f", "-0x1f"
//   column(name, value)                              of a scheme
//   attribute(name, value)                           of a tag: the name is in the file

// --- Feedback reports

// A piece of a report, but not the rows or lines in it.
template <typename Codec>
void fields(Codec& c, const ReportItem& item) {
  constexpr size_t kShownBytes = 200;
  switch (item.kind) {
    case ReportItem::Kind::report_begin:
      c.text("id", item.id);
      break;
    case ReportItem::Kind::samples:
    case ReportItem::Kind::timestamps:
      for (size_t i = 0; i < item.tag.attribute_count; ++i)
        c.attribute(item.tag.attributes[i].first, item.tag.attributes[i].second);
      break;
    case ReportItem::Kind::skipped:
      c.number("bytes", item.bytes.size());
      c.text("text", item.bytes.substr(0, kShownBytes));
      break;
    case ReportItem::Kind::report_end:
    case ReportItem::Kind::text:
      break;
  }
}

// A row of a section.
struct SampleRow {
  uint64_t site = 0;             // its number in the section
  std::vector<uint64_t> values;  // empty if they are not numbers
  std::string_view text;         // then: the row
};
inline SampleRow read_sample_row(uint64_t site, std::string_view row) {
  SampleRow read{site, {}, {}};
  for (size_t at = 0; at <= row.size();) {
    const size_t tab = std::min(row.find('\t', at), row.size());
    const std::optional<uint64_t> value = parse_unsigned(row.substr(at, tab - at));
    if (!value) return {site, {}, row};
    read.values.push_back(*value);
    at = tab + 1;
  }
  return read;
}
template <typename Codec>
void fields(Codec& c, const SampleRow& r) {
  c.number("site", r.site);
  if (r.values.empty()) {
    c.text("text", r.text);
  } else {
    c.numbers("values", std::span<const uint64_t>(r.values));
  }
}

// A line of a main-backtrace report.
template <typename Codec>
void fields(Codec& c, const BacktraceFrame& r) {
  c.text("module", r.module);
  c.text_if_any("symbol", r.symbol);
  if (r.offset) c.signed_offset("at", r.negative_offset, *r.offset);
  c.address("address", r.address);
}

// Another line.
struct ReportLine {
  std::string_view text;
};
template <typename Codec>
void fields(Codec& c, const ReportLine& r) {
  c.text("text", r.text);
}

// --- Site information

template <typename Codec>
void fields(Codec& c, const SitesSection& r) {
  c.text("unit", r.unit);
  c.text("scheme", r.scheme);
  c.number("rows", r.size());
}

struct Site {
  uint64_t number = 0;  // in its section
  SiteRow row;
  const SchemeLayout* scheme = nullptr;  // null: unknown
};
// REQUIRES: the row has the common columns, though they may be empty.
template <typename Codec>
void fields(Codec& c, const Site& r) {
  c.number("site", r.number);
  c.text("file", r.row.file());
  c.text("line", r.row.line_number());
  c.text("function", r.row.function());
  c.text("cfg", r.row.graph_number());
  size_t named = kCommonColumns;
  const size_t known = kCommonColumns + (r.scheme != nullptr ? r.scheme->columns : 0);
  for (; named < std::min(known, r.row.column_count); ++named)
    c.column(r.scheme->column_names[named - kCommonColumns], r.row.columns[named]);
  const auto all = std::span(r.row.columns).first(r.row.column_count);
  c.texts("more", all.subspan(std::min(named, all.size())));
}

// --- Control flow graphs

template <typename Codec>
void fields(Codec& c, const CfgUnit& r) {
  c.text("version", r.version);
  c.text("source", r.source);
  c.text("unit", r.signature);
}
template <typename Codec>
void fields(Codec& c, const CfgFunction& r) {
  c.text("function", r.name);
  c.text("file", r.file);
  c.number("line", r.line);
  c.flag("static", r.is_static);
}

struct GraphNode {
  uint64_t number = 0;  // in its function
  CfgNode node;
  std::span<const uint32_t> successors;
  std::span<const std::string_view> callees;
};
template <typename Codec>
void fields(Codec& c, const GraphNode& r) {
  c.number("node", r.number);
  c.text("file", r.node.file);
  c.number("line", r.node.line);
  c.numbers("successors", r.successors);
  c.texts("callees", r.callees);
  if (r.node.unknown_callees) c.flag("unknown_callees", true);
}

}  // namespace telltale::sampler
