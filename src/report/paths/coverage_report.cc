#include "report/paths/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include "base/counted.h"
#include "base/plain_path.h"
#include "model/function_names.h"
#include "output/escape.h"
#include "output/flame/page_text.h"
#include "output/function_keys.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/table.h"
#include "program/demangle.h"
#include "report/paths/source_lines.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::number_id;
using field::rows;
using field::text;

constexpr Field kFunction = text("function", "Name of the function.");
constexpr Field kFile = text("file", "Source file.");
constexpr Field kLine = number_id("line", "Line.");
constexpr Field kRan = text("ran", "Whether it was executed: yes, no or maybe.");

constexpr std::array kTextColumns = {
    kRan,
    count("lines", "Lines.").titled("LINES"),
    count("yes", "Lines that ran.").titled("YES"),
    count("no", "Lines that did not run.").titled("NO"),
    count("maybe", "Lines of which nothing is known.").titled("MAYBE"),
    text("mechanisms", "What it was built with."),
    kFunction,
};
constexpr std::array kLineColumns = {kFile, kLine, kFunction, kRan};
constexpr std::array kLineFields = {kFile, kLine, kRan};
constexpr std::array kSourceLineFields = {kLine, kRan};
constexpr std::array kCallFields = {
    number_id("line", "Line of the call; 0 if unknown."),
    text("callee", "The linker's name of the called function; ? for a call through a pointer."),
    text("returned", "Whether a call returned: yes, no or maybe."),
};
constexpr std::array kBlockLineFields = {kFile, kLine};
constexpr std::array kBlockFields = {
    number_id("block", "Its number in .debug_PT, if it was built with path tracing.").or_null(),
    rows("lines", kBlockLineFields, "Its lines."),
    kRan,
};
constexpr std::array kFunctionFields = {
    kFunction,
    text("linkage_name", "The linker's name."),
    kFile,
    number_id("line", "Line of its declaration.").or_null(),
    text("module", "Program or shared object."),
    text("mechanisms",
         "What it was built with: BBC, CC and FC, separated by commas, or PT alone; inlined: no "
         "code "
         "of its own is left."),
    kRan,
    rows("lines", kLineFields,
         "Lines of its code, also those of functions that were inlined into it."),
    rows("source_lines", kSourceLineFields,
         "Its own lines in its file, in all copies together: its code, and wherever it was "
         "inlined."),
    rows("calls", kCallFields, "Calls, if it was built with CC."),
    rows("blocks", kBlockFields,
         "Its basic blocks, the entry first; none if the program does not describe them."),
};
constexpr std::array kMembers = {
    rows("functions", kFunctionFields,
         "Functions of programs that were built with --trace, by name."),
};

char mark_of(Ran ran) { return ran == Ran::yes ? '+' : ran == Ran::no ? '-' : '?'; }

// Lines of all functions, by file. A line of several functions ran if it did in any of them.
using FileLines = std::map<std::string, std::map<uint32_t, Ran>>;

FileLines lines_by_file(const std::vector<FunctionCoverage>& functions) {
  FileLines files;
  for (const FunctionCoverage& function : functions) {
    for (const auto& [place, ran] : function.lines) add_copy(files[place.first], place.second, ran);
  }
  return files;
}

Table text_table(const std::vector<FunctionCoverage>& functions) {
  Table table{TableSchema(kTextColumns)};
  for (const FunctionCoverage& function : functions) {
    const std::array<uint64_t, 3> counts = count_lines(function);
    table.add_row({std::string(name_of(function.ran)), counts[0] + counts[1] + counts[2],
                   counts[static_cast<size_t>(Ran::yes)], counts[static_cast<size_t>(Ran::no)],
                   counts[static_cast<size_t>(Ran::maybe)], function.mechanisms,
                   function.function});
  }
  return table;
}

// Of all blocks, how many ran, did not, or may have.
void write_shares(const std::vector<FunctionCoverage>& functions, BlockWriter& out) {
  std::array<size_t, 3> counts{};
  for (const FunctionCoverage& function : functions) {
    for (const FunctionCoverage::Block& block : function.blocks)
      ++counts[static_cast<size_t>(block.ran)];
  }
  const size_t all = counts[0] + counts[1] + counts[2];
  if (all == 0) return;
  const auto share = [&](Ran ran) {
    return 100.0 * static_cast<double>(counts[static_cast<size_t>(ran)]) / static_cast<double>(all);
  };
  out.write(fmt::format("\n{}: {:.1f} % ran, {:.1f} % did not run, {:.1f} % may have run\n",
                        counted(all, "block"), share(Ran::yes), share(Ran::no), share(Ran::maybe)));
}

void write_source(const FileLines& files, SourceLines& sources, BlockWriter& out) {
  for (const auto& [file, lines] : files) {
    out.write(fmt::format("\n{}\n", visible(file)));
    uint32_t expected = lines.begin()->first;
    for (const auto& [number, ran] : lines) {
      // Lines without code, such as comments, are left out.
      if (number != expected) out.write("         ...\n");
      expected = number + 1;
      std::string line = fmt::format("{} {:>6}  {}", mark_of(ran), number,
                                     visible_source(sources.line(file, "", number)));
      line.resize(line.find_last_not_of(' ') + 1);
      out.write(line + "\n");
    }
  }
}

// Functions by the file of their declaration, and lines, that certainly ran or did not.
struct KnownFile {
  struct Function {
    std::string name;  // unique in the file
    uint32_t line = 0;
    Ran ran = Ran::maybe;
  };
  std::vector<Function> functions;  // by line and name
  std::map<uint32_t, Ran> lines;
};
using RanFunctions = std::map<std::pair<uint32_t, std::string>, Ran>;  // by line and name

std::vector<KnownFile::Function> known_functions(const RanFunctions& functions) {
  std::vector<FunctionLine> lines;
  for (const auto& [place, ran] : functions) lines.push_back({place.second, place.first});
  const std::vector<std::string> names = unique_function_names(lines);
  std::vector<KnownFile::Function> known;
  size_t next = 0;
  for (const auto& [place, ran] : functions) {
    const std::string& name = names[next++];
    if (ran != Ran::maybe) known.push_back({name, place.first, ran});
  }
  return known;
}

// The lines that functions begin at. Where a function was inlined everywhere, the line of its
// declaration may be unknown: another copy's, or the first line that it has code of. 0: unknown.
class FirstLines {
 public:
  explicit FirstLines(const std::vector<FunctionCoverage>& functions) {
    for (const FunctionCoverage& function : functions)
      if (function.line != 0) declared_[{function.file, function.linkage_name}] = function.line;
  }
  uint32_t operator()(const FunctionCoverage& function) const {
    if (function.line != 0) return function.line;
    const auto found = declared_.find({function.file, function.linkage_name});
    if (found != declared_.end()) return found->second;
    return function.source_lines.empty() ? 0 : function.source_lines.begin()->first;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> declared_;
};

// Names of files are plain, since viewers compare them with those of a repository. Functions of one
// line and one name are joined: `name_of_symbol` gives both symbols of a constructor one name.
std::map<std::string, KnownFile> known_files(const std::vector<FunctionCoverage>& functions,
                                             std::string (*name_of_symbol)(std::string_view)) {
  std::map<std::string, KnownFile> files;
  std::map<std::string, RanFunctions> by_file;
  const FirstLines lines(functions);
  for (const FunctionCoverage& function : functions) {
    for (const auto& [place, ran] : function.lines)
      add_copy(files[plain_path(place.first.str())].lines, place.second, ran);
    const uint32_t line = lines(function);
    if (function.file.empty() || line == 0) continue;
    add_copy(by_file[plain_path(function.file)], {line, name_of_symbol(function.linkage_name)},
             function.ran);
  }
  for (const auto& [file, of_file] : by_file) files[file].functions = known_functions(of_file);
  for (auto& [file, known] : files)
    std::erase_if(known.lines, [](const auto& line) { return line.second == Ran::maybe; });
  std::erase_if(files, [](const auto& file) {
    return file.second.functions.empty() && file.second.lines.empty();
  });
  return files;
}

// The folders that names of files are relative to.
std::string cobertura_sources(const std::map<std::string, KnownFile>& files) {
  const auto is_absolute = [](const auto& file) { return file.first.starts_with('/'); };
  std::string sources;
  if (!std::ranges::all_of(files, is_absolute)) sources += "    <source>.</source>\n";
  if (std::ranges::any_of(files, is_absolute)) sources += "    <source>/</source>\n";
  return sources;
}

size_t count_yes(const std::map<uint32_t, Ran>& lines) {
  return static_cast<size_t>(std::ranges::count(lines | std::views::values, Ran::yes));
}

double rate(size_t part, size_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string xml(std::string_view raw) {
  std::string out;
  append_xml(out, raw);
  return out;
}

void write_function(ObjectWriter& row, const FunctionCoverage& function) {
  row.add("function", function.function).add("linkage_name", function.linkage_name);
  row.add("file", function.file);
  function.line == 0 ? row.add("line", nullptr) : row.add("line", function.line);
  row.add("module", function.module).add("mechanisms", function.mechanisms);
  row.add("ran", name_of(function.ran));
  row.list("lines", [&](ListWriter& lines) {
    for (const auto& line : function.lines) {
      lines.row([&](ObjectWriter& one) {
        one.add("file", line.first.first.str()).add("line", line.first.second);
        one.add("ran", name_of(line.second));
      });
    }
  });
  row.list("source_lines", [&](ListWriter& lines) {
    for (const auto& line : function.source_lines) {
      lines.row(
          [&](ObjectWriter& one) { one.add("line", line.first).add("ran", name_of(line.second)); });
    }
  });
  row.list("calls", [&](ListWriter& calls) {
    for (const FunctionCoverage::Call& call : function.calls) {
      calls.row([&](ObjectWriter& one) {
        one.add("line", call.line).add("callee", call.callee);
        one.add("returned", name_of(call.returned));
      });
    }
  });
  row.list("blocks", [&](ListWriter& blocks) {
    for (const FunctionCoverage::Block& block : function.blocks) {
      blocks.row([&](ObjectWriter& one) {
        block.id ? one.add("block", *block.id) : one.add("block", nullptr);
        one.list("lines", [&](ListWriter& lines) {
          for (const auto& place : block.lines) {
            lines.row([&](ObjectWriter& line) {
              line.add("file", place.first.str()).add("line", place.second);
            });
          }
        });
        one.add("ran", name_of(block.ran));
      });
    }
  });
}

}  // namespace

std::vector<FunctionCoverage> choose_coverage(std::vector<FunctionCoverage> functions,
                                              const CallFilter& filter) {
  std::erase_if(functions, [&](const FunctionCoverage& function) {
    FunctionInfo info;
    info.name = function.function;
    info.linkage_name = function.linkage_name;
    return !filter.matches(info);
  });
  return functions;
}

void ask_for_sources(const std::vector<FunctionCoverage>& functions, SourceLines& sources) {
  for (const auto& [file, lines] : lines_by_file(functions)) sources.complaint(file, "");
}

Result<void> write_coverage_text(const std::vector<FunctionCoverage>& functions, bool with_lines,
                                 SourceLines& sources, const ByteSink& sink) {
  BlockWriter out(sink);
  text_table(functions).write_text(out);
  write_shares(functions, out);
  if (with_lines) write_source(lines_by_file(functions), sources, out);
  return out.finish();
}

Result<void> write_coverage_csv(const std::vector<FunctionCoverage>& functions,
                                const ByteSink& sink) {
  BlockWriter out(sink);
  const TableSchema schema(kLineColumns);
  CsvSink csv(schema, out);
  for (const FunctionCoverage& function : functions) {
    for (const auto& [place, ran] : function.lines) {
      const std::array<TableCell, 4> row = {place.first, uint64_t{place.second}, function.function,
                                            std::string(name_of(ran))};
      csv.add(row);
    }
  }
  return out.finish();
}

Result<void> write_coverage_document(const std::vector<FunctionCoverage>& functions,
                                     std::string_view format, const ProblemLog& problems,
                                     const ByteSink& sink) {
  BlockWriter out(sink);
  JsonWriter json(out.block(), 3);
  DocumentWriter document(json, schemas::kCoverage, format, &out);
  document.list("functions", [&](ListWriter& list) {
    for (const FunctionCoverage& function : functions)
      list.row([&](ObjectWriter& row) { write_function(row, function); });
  });
  document.finish(problems);
  return out.finish();
}

Result<void> write_coverage_lcov(const std::vector<FunctionCoverage>& functions,
                                 const ByteSink& sink) {
  BlockWriter out(sink);
  for (const auto& [file, known] : known_files(functions, lcov_function_name)) {
    out.write(fmt::format("TN:telltale_coverage\nSF:{}\n", lcov_file_name(file)));
    size_t entered = 0;
    for (const KnownFile::Function& function : known.functions)
      out.write(fmt::format("FN:{},{}\n", function.line, function.name));
    for (const KnownFile::Function& function : known.functions) {
      const int count = function.ran == Ran::yes ? 1 : 0;
      out.write(fmt::format("FNDA:{},{}\n", count, function.name));
      entered += static_cast<size_t>(count);
    }
    out.write(fmt::format("FNF:{}\nFNH:{}\n", known.functions.size(), entered));
    for (const auto& [line, ran] : known.lines)
      out.write(fmt::format("DA:{},{}\n", line, ran == Ran::yes ? 1 : 0));
    out.write(
        fmt::format("LF:{}\nLH:{}\nend_of_record\n", known.lines.size(), count_yes(known.lines)));
  }
  return out.finish();
}

Result<void> write_coverage_cobertura(const std::vector<FunctionCoverage>& functions,
                                      const ByteSink& sink) {
  BlockWriter out(sink);
  const auto files = known_files(functions, demangle);
  size_t lines = 0;
  size_t covered = 0;
  for (const auto& [file, known] : files) {
    lines += known.lines.size();
    covered += count_yes(known.lines);
  }
  out.write(fmt::format(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE coverage SYSTEM "
      "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage line-rate=\"{0:.4f}\" "
      "branch-rate=\"0\" lines-covered=\"{1}\" lines-valid=\"{2}\" branches-covered=\"0\" "
      "branches-valid=\"0\" complexity=\"0\" version=\"telltale\" timestamp=\"0\">\n"
      "  <sources>\n{3}  </sources>\n  <packages>\n"
      "    <package name=\"\" line-rate=\"{0:.4f}\" branch-rate=\"0\" complexity=\"0\">\n"
      "      <classes>\n",
      rate(covered, lines), covered, lines, cobertura_sources(files)));
  for (const auto& [file, known] : files) {
    out.write(fmt::format(
        "        <class name=\"{0}\" filename=\"{0}\" line-rate=\"{1:.4f}\" branch-rate=\"0\" "
        "complexity=\"0\">\n          <methods>\n",
        xml(file), rate(count_yes(known.lines), known.lines.size())));
    for (const KnownFile::Function& function : known.functions) {
      const int hits = function.ran == Ran::yes ? 1 : 0;
      out.write(fmt::format(
          "            <method name=\"{}\" signature=\"\" line-rate=\"{}\" branch-rate=\"0\" "
          "complexity=\"0\"><lines><line number=\"{}\" hits=\"{}\"/></lines></method>\n",
          xml(function.name), hits, function.line, hits));
    }
    out.write("          </methods>\n          <lines>\n");
    for (const auto& [line, ran] : known.lines) {
      out.write(fmt::format("            <line number=\"{}\" hits=\"{}\"/>\n", line,
                            ran == Ran::yes ? 1 : 0));
    }
    out.write("          </lines>\n        </class>\n");
  }
  out.write("      </classes>\n    </package>\n  </packages>\n</coverage>\n");
  return out.finish();
}

constinit const DocumentSchema schemas::kCoverage{
    "coverage", 1, "Which lines and calls of a stopped process ran.", true, kMembers};

}  // namespace telltale
