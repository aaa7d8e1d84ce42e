#include "output/dump/sampler_dump.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

#include "formats/sampler/record_fields.h"

namespace telltale::sampler {
namespace {

constexpr auto kFields = std::to_array<Field>({
    field::text("File.file", "Name of the file."),
    field::text("format", "sampler, sampler-sites or sampler-cfg."),
    field::text("id", "Name of the subreport."),
    field::text("unit", "Signature of the unit."),
    field::text("scheme", "Name of the instrumentation scheme."),
    field::text("when", "Of time stamps: first or last."),
    field::number_id("site", "Number of the site in its section."),
    field::list_of("values", ValueType::unsigned_integer, "Counters of the site."),
    field::text("text", "The text: of a row that is not numbers, of a line, or skipped."),
    field::text("module", "Path of the program or library."),
    field::text("symbol", "Symbol before the address."),
    field::text("at", "Offset of the address from the symbol or the module."),
    field::address("address", "Address in the process."),
    field::count("rows", "Sites of the section."),
    field::text("file", "Source file."),
    field::text("line", "Line in the source file."),
    field::number_id("Function.line", "Line in the source file."),
    field::number_id("Node.line", "Line in the source file."),
    field::text("function", "Linkage name of the function."),
    field::text("cfg", "Number of the site's node in the control flow graph."),
    field::text("left", "The variable."),
    field::text("host", "What the variable is: local, global, ..."),
    field::text("column_offset", "Path to the variable in its host."),
    field::text("right", "What it is compared with."),
    field::text("right_kind", "What that is."),
    field::text("statement", "The statement."),
    field::text("lvalue", "What is accessed."),
    field::text("access", "read or write."),
    field::text("assignment", "The assignment."),
    field::text("predicate", "The condition."),
    field::text("callee", "The function that is called."),
    field::text("argument", "The argument."),
    field::text("name", "Name of the function."),
    field::list_of("more", ValueType::text, "Columns that the scheme does not have."),
    field::text("version", "Version of the graphs' text."),
    field::text("source", "Source file as given to the compiler."),
    field::truth("static", "Whether only its unit sees the function."),
    field::number_id("node", "Number of the node in its function."),
    field::list_of("successors", ValueType::unsigned_integer, "Numbers of nodes."),
    field::list_of("callees", ValueType::text, "Functions that the node calls."),
    field::truth("unknown_callees", "The node calls a function that is not known."),
});

// The codec that prints the fields of records (record_fields.h).
class FieldPrinter {
 public:
  explicit FieldPrinter(DumpLine& line) : line_(line) {}
  void number(std::string_view name, std::integral auto value) { line_.number(name, value); }
  void flag(std::string_view name, bool value) { line_.flag(name, value); }
  void text(std::string_view name, std::string_view value) { line_.text(name, value); }
  void text_if_any(std::string_view name, std::string_view value) {
    line_.text_if_any(name, value);
  }
  template <typename T>
  void numbers(std::string_view name, std::span<const T> values) {
    line_.numbers(name, values);
  }
  void texts(std::string_view name, std::span<const std::string_view> values) {
    line_.texts(name, values);
  }
  void address(std::string_view name, uint64_t value) { line_.address(name, value); }
  void signed_offset(std::string_view name, bool negative, uint64_t value) {
    line_.word(name, fmt::format("{}{:#x}", negative ? "-" : "+", value));
  }
  void column(std::string_view name, std::string_view value) { named("column_", name, value); }
  void attribute(std::string_view name, std::string_view value) {
    named("attribute_", name, value);
  }

 private:
  void named(std::string_view prefix, std::string_view name, std::string_view value) {
    const bool taken = !line_.for_people() && (name == "offset" || name == "record");
    line_.text(taken ? std::string(prefix).append(name) : std::string(name), value);
  }

  DumpLine& line_;
};

template <typename Record>
void print(DumpOutput& out, uint64_t offset, std::string_view name, const Record& record) {
  DumpLine line(out, offset, name);
  FieldPrinter printer(line);
  fields(printer, record);
}

// The first line: the kind of file.
void begin(const std::string& name, std::string_view format, DumpOutput& out) {
  DumpLine line(out, 0, "File");
  if (!out.for_people()) line.text("file", name);
  line.word("format", format);
}

class ReportDumper {
 public:
  explicit ReportDumper(DumpOutput& out) : out_(out) {}

  void tell(const ReportItem& item) {
    switch (item.kind) {
      case ReportItem::Kind::report_begin:
        id_ = item.id;
        break;
      case ReportItem::Kind::report_end:
        if (!item.closed) return;
        break;
      case ReportItem::Kind::text:
        for_each_line(item.bytes,
                      [&](std::string_view text, size_t at) { tell_line(text, item.offset + at); });
        return;
      default:
        break;
    }
    print(out_, item.offset, to_string(item.kind), item);
    uint64_t site = 0;
    for_each_line(item.body, [&](std::string_view row, size_t at) {
      print(out_, item.body_offset + at, "Row", read_sample_row(site++, row));
    });
  }

 private:
  void tell_line(std::string_view text, uint64_t offset) {
    const auto frame = id_ == kBacktraceReport ? parse_backtrace_frame(text) : std::nullopt;
    if (frame) {
      print(out_, offset, "Frame", *frame);
    } else {
      print(out_, offset, "Line", ReportLine{text});
    }
  }

  DumpOutput& out_;
  std::string_view id_;
};

}  // namespace

Result<void> dump_report(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems) {
  DumpOutput out(style, sink);
  begin(name, "sampler", out);
  ReportDumper dumper(out);
  ReportReader reader(file);
  while (const std::optional<ReportItem> item = reader.next()) {
    dumper.tell(*item);
    if (!item->complaint) continue;
    const Problem problem = problem_of(*item, name);
    dump_problem(problem, out);
    problems.add(problem);
  }
  return out.finish();
}

Result<void> dump_sites(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                        ProblemLog& problems) {
  DumpOutput out(style, sink);
  begin(name, "sampler-sites", out);
  ProblemLog found;
  const SiteInfo info = SiteInfo::read(file, name, 0, found);
  for (const SitesSection& section : info.sections()) {
    print(out, section.offset, "Sites", section);
    for (size_t i = 0; i < section.size(); ++i) {
      const Site site{i, section.row(i), find_scheme(section.scheme)};
      print(out, static_cast<uint64_t>(site.row.line.data() - info.text().data()), "Site", site);
    }
  }
  dump_problems(found, out, problems);
  return out.finish();
}

Result<void> dump_graphs(Bytes file, const std::string& name, DumpStyle style, const ByteSink& sink,
                         ProblemLog& problems) {
  DumpOutput out(style, sink);
  begin(name, "sampler-cfg", out);
  ProblemLog found;
  const CfgInfo info = CfgInfo::read(file, name, 0, found);
  for (const CfgUnit& unit : info.units()) {
    print(out, unit.offset, "Unit", unit);
    for (const CfgFunction& function : info.functions(unit)) {
      print(out, function.offset, "Function", function);
      uint64_t number = 0;
      for (const CfgNode& node : info.nodes(function)) {
        print(out, function.offset, "Node",
              GraphNode{number++, node, info.successors(node), info.callees(node)});
      }
    }
  }
  dump_problems(found, out, problems);
  return out.finish();
}

std::vector<RecordTable> sampler_records() {
  std::vector<RecordTable> tables = record_tables(kFields, [](DumpOutput& out) {
    begin("", "", out);
    ReportDumper report(out);
    for (const ReportItem::Kind kind :
         {ReportItem::Kind::report_begin, ReportItem::Kind::report_end, ReportItem::Kind::samples,
          ReportItem::Kind::timestamps, ReportItem::Kind::skipped}) {
      ReportItem item;
      item.kind = kind;
      for (const char* key : {"unit", "scheme", "when"}) {
        if (kind == ReportItem::Kind::samples && std::string_view(key) == "when") break;
        item.tag.attributes[item.tag.attribute_count++].first = key;
      }
      report.tell(item);
    }
    print(out, 0, "Row", SampleRow{0, {}, "text"});
    print(out, 0, "Row", SampleRow{0, {1}, {}});
    BacktraceFrame with_offset;
    with_offset.offset = 0;
    print(out, 0, "Frame", BacktraceFrame());
    print(out, 0, "Frame", with_offset);
    print(out, 0, "Line", ReportLine());
    print(out, 0, "Sites", SitesSection());
    for (const SchemeLayout& scheme : kSchemes) {
      Site site;
      site.scheme = &scheme;
      site.row.column_count = kCommonColumns + scheme.columns;
      print(out, 0, "Site", site);
    }
    print(out, 0, "Unit", CfgUnit());
    print(out, 0, "Function", CfgFunction());
    print(out, 0, "Node", GraphNode());
    GraphNode calls;
    calls.node.unknown_callees = true;
    print(out, 0, "Node", calls);
    dump_problem({}, out);
  });
  // A tag may have attributes that are not published.
  for (RecordTable& table : tables)
    table.open = table.record == to_string(ReportItem::Kind::samples) ||
                 table.record == to_string(ReportItem::Kind::timestamps);
  return tables;
}

}  // namespace telltale::sampler
