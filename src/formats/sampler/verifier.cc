#include "formats/sampler/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/joined.h"
#include "formats/sampler/backtrace.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/site_info.h"

namespace telltale::sampler {
namespace {

using Kind = Violation::Kind;

class Notes {
 public:
  void note(Kind kind, uint64_t offset, std::string_view record, std::string message) {
    ++verdict_.counts[static_cast<size_t>(kind)];
    if (verdict_.first && verdict_.first->offset <= offset) return;
    verdict_.first = Violation{kind, offset, std::string(record), std::move(message)};
  }
  void note(const Problem& problem, Kind otherwise) {
    note(problem.kind == Problem::Kind::torn_tail ? Kind::cut : otherwise, problem.offset,
         problem.record, problem.message);
  }
  void count(uint64_t records) { verdict_.records += records; }
  Verdict take() { return std::move(verdict_); }

 private:
  Verdict verdict_;
};

// The attributes of a section's tag: exactly these, in this order.
bool check_tag(const Tag& tag, std::span<const std::string_view> keys, uint64_t offset,
               Notes& notes) {
  bool right = tag.letter_perfect && tag.attribute_count == keys.size();
  for (size_t i = 0; right && i < keys.size(); ++i) right = tag.attributes[i].first == keys[i];
  if (right) return true;
  notes.note(Kind::wrong_tag, offset, tag.name,
             fmt::format("the tag must have exactly {}, each after one space", joined(keys, ", ")));
  return false;
}

// Null: unknown, and counted.
const SchemeLayout* check_key(std::string_view unit, std::string_view scheme, uint64_t offset,
                              std::string_view record, Notes& notes) {
  if (!is_unit_signature(unit)) {
    notes.note(Kind::wrong_unit, offset, record,
               "the unit is not 32 lower-case hexadecimal digits");
  }
  const SchemeLayout* layout = find_scheme(scheme);
  if (layout == nullptr) {
    notes.note(Kind::unknown_scheme, offset, record, fmt::format("unknown scheme {}", scheme));
  }
  return layout;
}

// In printf's form: no leading zeros.
bool is_plain_number(std::string_view text) {
  return parse_unsigned(text).has_value() && (text.size() == 1 || text.front() != '0');
}

bool is_plain_bound(std::string_view text) {
  const std::optional<BoundValue> value = parse_bound(text);
  return value && to_string(*value) == text;
}

template <typename Holds>
bool all_fields(std::string_view line, size_t wanted, Holds holds) {
  size_t fields = 0;
  for (size_t at = 0; at <= line.size(); ++fields) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    if (!holds(line.substr(at, tab - at))) return false;
    at = tab + 1;
  }
  return fields == wanted;
}

class ReportChecker {
 public:
  explicit ReportChecker(Notes& notes) : notes_(notes) {}

  void check(const ReportItem& item) {
    if (item.complaint) {
      const ReportItem::Complaint& complaint = *item.complaint;
      notes_.note(complaint.kind == Problem::Kind::torn_tail ? Kind::cut : Kind::misplaced,
                  complaint.offset, to_string(item.kind), complaint.message);
    }
    switch (item.kind) {
      case ReportItem::Kind::report_begin:
        begin_report(item);
        break;
      case ReportItem::Kind::report_end:
        id_ = {};
        break;
      case ReportItem::Kind::samples:
      case ReportItem::Kind::timestamps:
        check_section(item);
        break;
      case ReportItem::Kind::text:
        check_text(item);
        break;
      case ReportItem::Kind::skipped:
        break;
    }
    if (item.is_section() || item.kind == ReportItem::Kind::report_begin) notes_.count(1);
    const bool ends_line = item.bytes.empty() || item.bytes.ends_with('\n');
    if (!ends_line && item.kind != ReportItem::Kind::skipped) {
      notes_.note(Kind::cut, item.offset + item.bytes.size(), to_string(item.kind),
                  "the last line has no line feed");
    }
  }

 private:
  void begin_report(const ReportItem& item) {
    static constexpr std::string_view kKeys[] = {"id"};
    static constexpr std::string_view kFirstKeys[] = {"id", "sparsity", "first"};
    // Reports that were merged have neither.
    const bool has_rates = item.id == kFirstSamplesReport && item.tag.attribute_count > 1;
    const auto keys = has_rates ? std::span<const std::string_view>(kFirstKeys) : kKeys;
    if (check_tag(item.tag, keys, item.offset, notes_) && has_rates && !are_rates(item.tag)) {
      notes_.note(Kind::wrong_tag, item.offset, "report",
                  "sparsity is a number of 1 or more, first one from 1 to 255");
    }
    id_ = item.id;
    check_order(item.offset);
  }

  // The sparsity has any form that the runtime takes, which reads it with strtod, too.
  static bool are_rates(const Tag& tag) {
    const std::string sparsity(tag.attribute("sparsity"));
    char* end = nullptr;
    const bool is_sparsity = std::strtod(sparsity.c_str(), &end) >= 1 && *end == 0;
    const std::string_view first = tag.attribute("first");
    return is_sparsity && is_plain_number(first) && first != "0" &&
           *parse_unsigned(first) <= UINT8_MAX;
  }

  // samples is the first one; in a spool (docs/formats/collect.md) it follows `run`, and may be
  // missing, if the run was killed.
  void check_order(uint64_t offset) {
    if (any_) return;
    if (id_ == kRunReport && !std::exchange(spooled_, true)) return;
    any_ = true;
    if (id_ == kSamplesReport || (spooled_ && id_ == kOutcomeReport)) return;
    notes_.note(
        Kind::not_first, offset, "Report",
        fmt::format("the first subreport {}is {}, not samples", spooled_ ? "after run " : "", id_));
  }

  void check_section(const ReportItem& item) {
    static constexpr std::string_view kSamples[] = {"unit", "scheme"};
    static constexpr std::string_view kTimes[] = {"unit", "scheme", "when"};
    const bool samples = item.kind == ReportItem::Kind::samples;
    check_tag(item.tag, samples ? std::span<const std::string_view>(kSamples) : kTimes, item.offset,
              notes_);
    if (!samples && item.when != "first" && item.when != "last") {
      notes_.note(Kind::wrong_word, item.offset, "Timestamps",
                  "timestamps are of the first or of the last");
    }
    const SchemeLayout* layout =
        check_key(item.unit, item.scheme, item.offset, to_string(item.kind), notes_);
    uint64_t rows = 0;
    for_each_line(item.body, [&](std::string_view line, size_t at) {
      ++rows;
      const bool bounds = samples && layout != nullptr && layout->values == Values::bounds;
      const size_t wanted = !samples ? 1 : layout == nullptr ? 0 : layout->counters;
      if (wanted == 0 || all_fields(line, wanted, bounds ? is_plain_bound : is_plain_number))
        return;
      notes_.note(Kind::wrong_row, item.body_offset + at, to_string(item.kind),
                  fmt::format("row {} is not {} number{} of scheme {}", rows, wanted,
                              wanted == 1 ? "" : "s", item.scheme));
    });
    notes_.count(rows);
    const auto [known, is_new] =
        rows_.try_emplace({std::string(item.unit), std::string(item.scheme)}, rows);
    if (!is_new && known->second != rows && item.closed) {
      notes_.note(Kind::uneven_sections, item.offset, to_string(item.kind),
                  fmt::format("{} rows; an earlier section of the same unit and scheme has {}",
                              rows, known->second));
    }
  }

  void check_text(const ReportItem& item) {
    if (id_ != kBacktraceReport) return;
    for_each_line(item.bytes, [&](std::string_view line, size_t at) {
      notes_.count(1);
      if (parse_backtrace_frame(line)) return;
      notes_.note(Kind::wrong_frame, item.offset + at, "Text",
                  "not in the form that backtrace_symbols writes");
    });
  }

  Notes& notes_;
  std::string_view id_;
  bool any_ = false;      // a subreport other than `run`
  bool spooled_ = false;  // `run` was the first one
  std::map<SectionKey, uint64_t> rows_;
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_right_word(std::string_view column, std::string_view text) {
  if (column == "host") return is_one_of(text, {"local", "global", "mem"});
  if (column == "offset") return is_one_of(text, {"direct", "field", "index"});
  if (column == "access") return is_one_of(text, {"read", "write"});
  if (column == "right_kind") {
    return is_one_of(text, {"local", "global", "const", "local-init", "local-uninit"});
  }
  return true;
}

void check_site(const SiteRow& row, const SchemeLayout& layout, uint64_t offset, Notes& notes) {
  const size_t columns = kCommonColumns + layout.columns;
  const bool numbers = is_plain_number(row.line_number()) && is_plain_number(row.graph_number());
  if (!all_fields(row.line, columns, [](std::string_view) { return true; }) || !numbers) {
    notes.note(Kind::wrong_row, offset, "sites",
               fmt::format("not the {} columns of scheme {}, with numbers for line and graph",
                           columns, layout.name));
    return;
  }
  for (size_t i = 0; i < layout.columns; ++i) {
    if (is_right_word(layout.column_names[i], row.column(i))) continue;
    notes.note(Kind::wrong_word, offset, "sites",
               fmt::format("column {} ({}) is {}", kCommonColumns + i + 1, layout.column_names[i],
                           row.column(i)));
  }
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::cut:
      return "cut";
    case Kind::misplaced:
      return "misplaced";
    case Kind::wrong_tag:
      return "wrong tag";
    case Kind::wrong_unit:
      return "wrong unit";
    case Kind::unknown_scheme:
      return "unknown scheme";
    case Kind::wrong_row:
      return "wrong row";
    case Kind::wrong_word:
      return "wrong word";
    case Kind::uneven_sections:
      return "uneven sections";
    case Kind::not_first:
      return "not first";
    case Kind::wrong_frame:
      return "wrong frame";
    case Kind::wrong_graph:
      return "wrong graph";
    case Kind::missing_node:
      return "missing node";
  }
  return "";
}

std::string to_string(const Violation& violation) {
  return fmt::format("{} at byte {}: {}", violation.record, violation.offset, violation.message);
}

Verdict verify_report(Bytes file) {
  Notes notes;
  ReportChecker checker(notes);
  ReportReader reader(file, ReportReader::Sections::all);
  while (const std::optional<ReportItem> item = reader.next()) checker.check(*item);
  return notes.take();
}

Verdict verify_sites(Bytes file) {
  Notes notes;
  ProblemLog problems;
  const SiteInfo info = SiteInfo::read(file, {}, 0, problems);
  for (const Problem& problem : problems.kept()) notes.note(problem, Kind::misplaced);
  for (const SitesSection& section : info.sections()) {
    static constexpr std::string_view kKeys[] = {"unit", "scheme"};
    notes.count(1 + section.size());
    const std::string_view line =
        info.text().substr(static_cast<size_t>(section.offset),
                           info.text().find('\n', static_cast<size_t>(section.offset)) -
                               static_cast<size_t>(section.offset));
    if (const std::optional<Tag> tag = parse_tag(line))
      check_tag(*tag, kKeys, section.offset, notes);
    const SchemeLayout* layout =
        check_key(section.unit, section.scheme, section.offset, "sites", notes);
    if (layout == nullptr) continue;
    for (size_t i = 0; i < section.size(); ++i) {
      const SiteRow row = section.row(i);
      check_site(row, *layout, static_cast<uint64_t>(row.line.data() - info.text().data()), notes);
    }
  }
  return notes.take();
}

Verdict verify_graphs(Bytes file) {
  Notes notes;
  ProblemLog problems;
  const CfgInfo info = CfgInfo::read(file, {}, 0, problems);
  for (const Problem& problem : problems.kept()) notes.note(problem, Kind::wrong_graph);
  for (const CfgUnit& unit : info.units()) {
    notes.count(1);
    if (unit.version != kCfgVersion) {
      notes.note(Kind::wrong_graph, unit.offset, "graph",
                 fmt::format("version {}, not {}", unit.version, kCfgVersion));
    }
    for (const CfgFunction& function : info.functions(unit)) {
      notes.count(1 + function.node_count);
      for (const CfgNode& node : info.nodes(function)) {
        for (const uint32_t successor : info.successors(node)) {
          if (successor < function.node_count) continue;
          notes.note(Kind::missing_node, function.offset, "graph",
                     fmt::format("function {} has no node {}", function.name, successor));
        }
      }
    }
  }
  return notes.take();
}

}  // namespace telltale::sampler
