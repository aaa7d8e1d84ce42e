#include "formats/sampler/report_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "formats/sampler/report_reader.h"

namespace telltale::sampler {
namespace {

// The tag's line, re-encoded if that gives the same text.
void append_tag_line(std::string& out, const Tag& tag, std::string_view line) {
  std::string again;
  append_tag(again, tag);
  out += again == line ? std::string_view(again) : line;
}

// False: not a row of numbers, or not in canonical form.
bool append_row_again(std::string& out, std::string_view line, bool bounds) {
  const size_t begin = out.size();
  std::vector<uint64_t> numbers;
  std::vector<BoundValue> values;
  for (size_t at = 0; at <= line.size();) {
    const size_t tab = std::min(line.find('\t', at), line.size());
    const std::string_view field = line.substr(at, tab - at);
    const auto number = bounds ? std::nullopt : parse_unsigned(field);
    const auto value = bounds ? parse_bound(field) : std::nullopt;
    if (number) numbers.push_back(*number);
    if (value) values.push_back(*value);
    if (!number && !value) return false;
    at = tab + 1;
  }
  if (!bounds) {
    append_row(out, numbers);
  } else if (values.size() == 2) {
    append_row(out, Bounds{values[0], values[1]});
  }
  if (std::string_view(out).substr(begin) == std::string(line) + "\n") return true;
  out.resize(begin);
  return false;
}

void append_section_again(std::string& out, const ReportItem& item) {
  const size_t tag_bytes = item.body_offset - item.offset;
  append_tag_line(out, item.tag, item.bytes.substr(0, tag_bytes));
  const bool bounds = item.kind == ReportItem::Kind::samples && item.scheme == "bounds";
  for_each_line(item.body, [&](std::string_view line, size_t) {
    if (!append_row_again(out, line, bounds)) out.append(line).append("\n");
  });
  out += item.bytes.substr(tag_bytes + item.body.size());
}

}  // namespace

void append_tag(std::string& out, const Tag& tag) {
  out += tag.closes ? "</" : "<";
  out += tag.name;
  for (size_t i = 0; i < tag.attribute_count; ++i) {
    out.append(" ").append(tag.attributes[i].first).append("=\"");
    out.append(tag.attributes[i].second).append("\"");
  }
  out += ">\n";
}

void append_report_begin(std::string& out, std::string_view id) {
  out.append("<report id=\"").append(id).append("\">\n");
}
void append_first_report_begin(std::string& out, std::string_view sparsity,
                               std::string_view executions) {
  out.append("<report id=\"").append(kFirstSamplesReport).append("\"");
  if (!sparsity.empty() && !executions.empty()) {
    out.append(" sparsity=\"")
        .append(sparsity)
        .append("\" first=\"")
        .append(executions)
        .append("\"");
  }
  out.append(">\n");
}
void append_report_end(std::string& out) { out += "</report>\n"; }

void append_samples_begin(std::string& out, std::string_view unit, std::string_view scheme) {
  out.append("<samples unit=\"").append(unit).append("\" scheme=\"").append(scheme).append("\">\n");
}
void append_samples_end(std::string& out) { out += "</samples>\n"; }

void append_timestamps_begin(std::string& out, std::string_view unit, std::string_view scheme,
                             std::string_view when) {
  out.append("<timestamps unit=\"").append(unit).append("\" scheme=\"").append(scheme);
  out.append("\" when=\"").append(when).append("\">\n");
}
void append_timestamps_end(std::string& out) { out += "</timestamps>\n"; }

void append_row(std::string& out, std::span<const uint64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += '\t';
    const fmt::format_int digits(values[i]);
    out.append(digits.data(), digits.size());
  }
  out += '\n';
}

void append_row(std::string& out, const Bounds& bounds) {
  out += to_string(bounds.minimum) + '\t' + to_string(bounds.maximum) + '\n';
}

Result<void> rewrite_report(Bytes file, const ByteSink& sink) {
  BlockWriter out(sink);
  ReportReader reader(file);
  while (const std::optional<ReportItem> item = reader.next()) {
    switch (item->kind) {
      case ReportItem::Kind::report_begin:
        append_tag_line(out.block(), item->tag, item->bytes);
        break;
      case ReportItem::Kind::samples:
      case ReportItem::Kind::timestamps:
        append_section_again(out.block(), *item);
        break;
      case ReportItem::Kind::report_end:
      case ReportItem::Kind::text:
      case ReportItem::Kind::skipped:
        out.block() += item->bytes;
        break;
    }
    out.flush_if_full();
  }
  return out.finish();
}

}  // namespace telltale::sampler
