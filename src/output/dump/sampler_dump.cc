#include "output/dump/sampler_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "formats/sampler/backtrace.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/site_info.h"

namespace telltale::sampler {
namespace {

// The first line: the kind of file.
void begin(const std::string& name, std::string_view format, DumpStyle style, BlockWriter& out) {
  DumpLine line(style, 0, "File", out.block());
  if (style == DumpStyle::json) line.text("file", name);
  line.word("format", format);
}

void note_all(const ProblemLog& found, DumpStyle style, BlockWriter& out, ProblemLog& problems) {
  for (const Problem& problem : found.kept()) dump_problem(problem, style, out);
  problems.merge(found);
}

// A row verbatim; as numbers if it consists of numbers.
void tell_row(std::string_view row, DumpLine& line) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at <= row.size();) {
    const size_t tab = std::min(row.find('\t', at), row.size());
    const std::optional<uint64_t> value = parse_unsigned(row.substr(at, tab - at));
    if (!value) {
      line.text("text", row);
      return;
    }
    values.push_back(*value);
    at = tab + 1;
  }
  line.numbers("values", values);
}

class ReportDumper {
 public:
  ReportDumper(DumpStyle style, BlockWriter& out) : style_(style), out_(out) {}

  void print(const ReportItem& item) {
    switch (item.kind) {
      case ReportItem::Kind::report_begin:
        DumpLine(style_, item.offset, "Report", out_.block()).text("id", item.id);
        id_ = item.id;
        break;
      case ReportItem::Kind::report_end:
        if (item.closed) DumpLine(style_, item.offset, "ReportEnd", out_.block());
        break;
      case ReportItem::Kind::samples:
      case ReportItem::Kind::timestamps:
        tell_section(item);
        break;
      case ReportItem::Kind::text:
        for_each_line(item.bytes,
                      [&](std::string_view text, size_t at) { tell_line(text, item.offset + at); });
        break;
      case ReportItem::Kind::skipped:
        DumpLine(style_, item.offset, "Skipped", out_.block())
            .number("bytes", item.bytes.size())
            .text("text", item.bytes.substr(0, 200));
        break;
    }
    out_.flush_if_full();
  }

 private:
  void tell_section(const ReportItem& item) {
    {
      DumpLine line(style_, item.offset, to_string(item.kind), out_.block());
      for (size_t i = 0; i < item.tag.attribute_count; ++i)
        line.text(item.tag.attributes[i].first, item.tag.attributes[i].second);
    }
    uint64_t site = 0;
    for_each_line(item.body, [&](std::string_view row, size_t at) {
      {
        DumpLine line(style_, item.body_offset + at, "Row", out_.block());
        line.number("site", site++);
        tell_row(row, line);
      }
      out_.flush_if_full();
    });
  }

  void tell_line(std::string_view text, uint64_t offset) {
    const auto frame = id_ == kBacktraceReport ? parse_backtrace_frame(text) : std::nullopt;
    DumpLine line(style_, offset, frame ? "Frame" : "Line", out_.block());
    if (!frame) {
      line.text("text", text);
      return;
    }
    line.text("module", frame->module);
    if (!frame->symbol.empty()) line.text("symbol", frame->symbol);
    if (frame->offset) {
      line.word("at", fmt::format("{}{:#x}", frame->negative_offset ? "-" : "+", *frame->offset));
    }
    line.word("address", fmt::format("{:#x}", frame->address));
  }

  DumpStyle style_;
  BlockWriter& out_;
  std::string_view id_;
};

}  // namespace

Result<void> dump_report(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems) {
  BlockWriter out(sink);
  begin(name, "sampler", style, out);
  ReportDumper dumper(style, out);
  ReportReader reader(file);
  while (const std::optional<ReportItem> item = reader.next()) {
    dumper.print(*item);
    if (!item->complaint) continue;
    const Problem problem = problem_of(*item, name);
    dump_problem(problem, style, out);
    problems.add(problem);
  }
  return out.finish();
}

Result<void> dump_sites(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                        ProblemLog& problems) {
  BlockWriter out(sink);
  begin(name, "sampler-sites", style, out);
  ProblemLog found;
  const SiteInfo info = SiteInfo::read(file, name, 0, found);
  for (const SitesSection& section : info.sections()) {
    DumpLine(style, section.offset, "Sites", out.block())
        .text("unit", section.unit)
        .text("scheme", section.scheme)
        .number("rows", section.size());
    for (size_t i = 0; i < section.size(); ++i) {
      const SiteRow row = section.row(i);
      {
        DumpLine line(style, static_cast<uint64_t>(row.line.data() - info.text().data()), "Site",
                      out.block());
        line.number("site", i).text("file", row.file()).text("line", row.line_number());
        line.text("function", row.function()).text("cfg", row.graph_number());
        const SchemeLayout* layout = find_scheme(section.scheme);
        size_t named = kCommonColumns;
        for (; layout != nullptr && named < row.column_count &&
               named < kCommonColumns + layout->columns;
             ++named) {
          line.text(layout->column_names[named - kCommonColumns], row.columns[named]);
        }
        const auto all = std::span(row.columns).first(row.column_count);
        line.texts("more", all.subspan(std::min(named, all.size())));
      }
      out.flush_if_full();
    }
  }
  note_all(found, style, out, problems);
  return out.finish();
}

Result<void> dump_graphs(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems) {
  BlockWriter out(sink);
  begin(name, "sampler-cfg", style, out);
  ProblemLog found;
  const CfgInfo info = CfgInfo::read(file, name, 0, found);
  for (const CfgUnit& unit : info.units()) {
    DumpLine(style, unit.offset, "Unit", out.block())
        .text("version", unit.version)
        .text("source", unit.source)
        .text("unit", unit.signature);
    for (const CfgFunction& function : info.functions(unit)) {
      DumpLine(style, function.offset, "Function", out.block())
          .text("function", function.name)
          .text("file", function.file)
          .number("line", function.line)
          .flag("static", function.is_static);
      uint64_t number = 0;
      for (const CfgNode& node : info.nodes(function)) {
        DumpLine line(style, function.offset, "Node", out.block());
        line.number("node", number++).text("file", node.file).number("line", node.line);
        const auto successors = info.successors(node);
        line.numbers("successors", std::vector<uint64_t>(successors.begin(), successors.end()));
        line.texts("callees", info.callees(node));
        if (node.unknown_callees) line.flag("unknown_callees", true);
      }
      out.flush_if_full();
    }
  }
  note_all(found, style, out, problems);
  return out.finish();
}

}  // namespace telltale::sampler
