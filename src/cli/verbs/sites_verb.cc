// `telltale sites`: the instrumentation of programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "bytes/block_writer.h"
#include "bytes/input_file.h"
#include "cli/command_line.h"
#include "cli/options/message.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/formats.h"
#include "output/escape.h"
#include "output/table/table.h"
#include "report/sites/instrumented_program.h"
#include "report/sites/program_sites.h"
#include "report/sites/sites_document.h"

namespace telltale::cli {

namespace {

struct SitesOptions {
  std::vector<std::string> files;
  std::vector<std::string> debug_directories;
  std::vector<std::string> debug_files;
  OutputOption output;
  std::string target;
  bool sleds = false;
  bool json = false;
  bool csv = false;
  bool strict = false;
};

using Program = InstrumentedProgram;

Result<Program> load(const std::string& path, const SitesOptions& options) {
  Result<InputFile> input = InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  const Result<const FormatDescriptor*> format = find_format(*input, {});
  if (!format)
    return Program::read(*std::move(input), {options.debug_directories, options.debug_files});
  std::vector<InputFile> files;
  files.push_back(*std::move(input));
  const auto recording = (*format)->open(std::move(files), {});
  if (!recording) return std::unexpected(recording.error());
  if (const Result<void> usable = check_use("sites", **recording); !usable)
    return std::unexpected(usable.error());
  return Program::of(**recording);
}

std::string hex(uint64_t address) { return fmt::format("{:#x}", address); }

template <typename Function>
std::string place_of(const Function& function) {
  return function.line == 0 ? function.file : fmt::format("{}:{}", function.file, function.line);
}

// For people and CSV; JSON has more (schemas::kSites).
constexpr Field kProgram =
    field::text("program", "The program, as it was named.").titled("program");
constexpr Field kId = field::number_id("id", "The function's id.").titled("id");
constexpr Field kFunction = field::text("function", "Name of the function.").titled("function");
constexpr Field kCopyOf =
    field::text("copy_of", "The function that it is a variant or a copy of; else empty.")
        .titled("copy of");
constexpr std::array kFunctionColumns = {
    kProgram,
    kId,
    field::address("address", "Where the function begins.").titled("address"),
    field::count("sleds", "Its sleds.").titled("sleds"),
    kFunction,
    field::text("place", "FILE:LINE; empty if unknown.").titled("declared at"),
};
constexpr std::array kSledColumns = {
    kProgram,
    kId,
    field::address("address", "Where the sled is.").titled("address"),
    field::text("kind", "entry, exit, tail call ...").titled("kind"),
    field::text("always", "yes, if it is patched whatever the threshold.").titled("always"),
    field::number_id("version", "Version of the sled's entry in the map.").titled("version"),
    kFunction,
};

constexpr std::array kGraphColumns = {
    kProgram,
    kFunction,
    field::text("linkage_name", "Its name in the symbol table.").titled("linkage name"),
    field::count("blocks", "Blocks of its control flow graph.").titled("blocks"),
    field::count("edges", "Edges between them.").titled("edges"),
    kCopyOf,
};

constexpr std::array kCoverageColumns = {
    kProgram,
    kFunction,
    field::text("linkage_name", "Its name in the symbol table.").titled("linkage name"),
    field::text("mechanism", "FC, CC or BBC.").titled("mechanism"),
    field::count("probes", "Flags that tell what ran.").titled("probes"),
    field::count("blocks", "Blocks of the function.").titled("blocks"),
    field::count("calls", "Its calls, of CC.").titled("calls"),
    field::text("place", "FILE:LINE; empty if unknown.").titled("declared at"),
    kCopyOf,
};

TableSchema columns_of(std::span<const Field> declared, bool with_program) {
  TableSchema schema(declared);
  return with_program ? schema : schema.leave_out({"program"});
}

// The same with the column "copy_of": always in CSV, for people only if a row of `member` has one.
template <typename Row>
TableSchema columns_with_copies(std::span<const Field> declared, bool with_program, bool for_people,
                                const std::vector<Program>& programs,
                                std::vector<Row> Program::* member) {
  TableSchema schema = columns_of(declared, with_program);
  const bool has_copies = std::ranges::any_of(programs, [&](const Program& program) {
    return std::ranges::any_of(program.*member,
                               [](const Row& row) { return !row.copy_of.empty(); });
  });
  return has_copies || !for_people ? schema : schema.leave_out({"copy_of"});
}

Table functions_table(const std::vector<Program>& programs, bool with_program) {
  Table table(columns_of(kFunctionColumns, with_program));
  for (const Program& program : programs) {
    for (const InstrumentedFunction& function : program.map.functions()) {
      const ProgramFunction named = program.describe(function);
      table.add_row({program.path, uint64_t{function.id}, hex(function.address),
                     uint64_t{function.sled_count}, named.name, place_of(named)});
    }
  }
  return table;
}

Table sleds_table(const std::vector<Program>& programs, bool with_program) {
  Table table(columns_of(kSledColumns, with_program));
  for (const Program& program : programs) {
    for (const InstrumentedFunction& function : program.map.functions()) {
      const std::string name = program.describe(function).name;
      for (const Sled& sled : program.map.sleds(function)) {
        table.add_row({program.path, uint64_t{function.id}, hex(sled.address), to_string(sled.kind),
                       std::string(sled.always_instrument ? "yes" : "no"), uint64_t{sled.version},
                       name});
      }
    }
  }
  return table;
}

Table graphs_table(const std::vector<Program>& programs, bool with_program, bool for_people) {
  Table table(
      columns_with_copies(kGraphColumns, with_program, for_people, programs, &Program::graphs));
  for (const Program& program : programs) {
    for (const FunctionGraph& graph : program.graphs)
      table.add_row(
          {program.path, graph.name, graph.linkage_name, graph.blocks, graph.edges, graph.copy_of});
  }
  return table;
}

Table coverage_table(const std::vector<Program>& programs, bool with_program, bool for_people) {
  Table table(columns_with_copies(kCoverageColumns, with_program, for_people, programs,
                                  &Program::coverage));
  for (const Program& program : programs) {
    for (const CoverageSites& sites : program.coverage)
      table.add_row({program.path, sites.name, sites.linkage_name, sites.mechanism, sites.probes,
                     sites.blocks, sites.calls, place_of(sites), sites.copy_of});
  }
  return table;
}

Table make_table(const std::vector<Program>& programs, const SitesOptions& options,
                 bool with_program) {
  return options.sleds ? sleds_table(programs, with_program)
                       : functions_table(programs, with_program);
}

// What it has besides an instrumentation map.
std::string describe_others(const Program& program) {
  std::string text = describe_sites(*program.sites);
  if (!program.graphs.empty()) {
    uint64_t blocks = 0;
    uint64_t edges = 0;
    for (const FunctionGraph& graph : program.graphs) {
      blocks += graph.blocks;
      edges += graph.edges;
    }
    text += fmt::format("{}graphs of {} ({}, {})", text.empty() ? "" : "; ",
                        counted(program.graphs.size(), "function"), counted(blocks, "block"),
                        counted(edges, "edge"));
  }
  if (program.coverage.empty()) return text;
  std::set<std::pair<std::string, std::string>> functions;  // with several mechanisms, too
  uint64_t probes = 0;
  for (const CoverageSites& sites : program.coverage) {
    functions.emplace(sites.linkage_name, sites.file);
    probes += sites.probes;
  }
  return text + fmt::format("{}coverage of {} ({})", text.empty() ? "" : "; ",
                            counted(functions.size(), "function"), counted(probes, "probe"));
}

std::string summary(const Program& program) {
  std::string text = visible(program.path) + ":";
  if (program.format == "yaml") text += " a YAML map,";
  if (!program.machine.empty()) text += fmt::format(" {},", program.machine);
  if (!program.build_id.empty()) text += fmt::format(" build-id {},", program.build_id);
  const std::string others = describe_others(program);
  if (!others.empty() && program.map.functions().empty()) return text + " " + others + "\n";
  text += fmt::format(" {}, {}", counted(program.map.functions().size(), "function"),
                      counted(program.map.sleds().size(), "sled"));
  const char* separator = " (";
  for (const auto& [kind, count] : program.sleds_by_kind()) {
    text += fmt::format("{}{} {}", separator, count, to_string(kind));
    separator = ", ";
  }
  if (!program.map.sleds().empty()) text += ")";
  for (const unsigned version : program.map_versions())
    text += fmt::format(", map version {}", version);
  if (!others.empty()) text += "; " + others;
  return text + "\n";
}

void write_yaml(const Program& program, OutputFile& file) {
  const auto quoted_name = [&](const InstrumentedFunction& function) {
    std::string quoted = "\"";
    append_json(quoted, program.describe(function).name);
    return quoted + "\"";
  };
  const size_t left_out = write_llvm_xray_yaml(
      program.map, quoted_name, [&](std::string_view text) { (void)file.write(text); });
  if (left_out != 0) {
    print_message(
        "telltale: {}: {} sleds have kinds without a name in llvm-xray and were omitted\n",
        visible(program.path), left_out);
  }
}

void write_answer(const std::vector<Program>& programs, const SitesOptions& options,
                  BlockWriter& out) {
  if (options.json) return write_sites_document(programs, options.sleds, out);
  const bool with_program = options.csv || programs.size() > 1;
  const Table table = make_table(programs, options, with_program);
  const Table graphs = graphs_table(programs, with_program, !options.csv);
  const Table coverage = coverage_table(programs, with_program, !options.csv);
  TableSchema columns(site_columns());
  if (!with_program) columns.leave_out({"program"});
  uint64_t site_count = 0;
  for (const Program& program : programs) site_count += program.sites->site_count();
  // Machine-readable output can be joined with `resolve`.
  const size_t unit_digits = options.csv ? kAllUnitDigits : kShownUnitDigits;
  const Rows sites = [&](RowSink& rows) {
    for (const Program& program : programs)
      add_site_rows(*program.sites, program.path, unit_digits, rows);
  };
  if (options.csv) {
    // A CSV file is one table.
    if (table.rows() == 0 && site_count != 0) {
      CsvSink sink_of_sites(columns, out);
      sites(sink_of_sites);
    } else if (table.rows() == 0 && graphs.rows() != 0) {
      graphs.write_csv(out);
    } else if (table.rows() == 0 && coverage.rows() != 0) {
      coverage.write_csv(out);
    } else {
      table.write_csv(out);
    }
    return;
  }
  for (const Program& program : programs) out.write(summary(program));
  for (const Table* const shown : {&table, &graphs, &coverage}) {
    if (shown->rows() == 0) continue;
    out.write("\n");
    shown->write_text(out);
  }
  if (site_count != 0) {
    out.write("\n");
    telltale::write_text(columns, sites, out);
  }
}

int run_sites(const SitesOptions& options) {
  if (!options.target.empty() && options.files.size() != 1) {
    return report_error(usage_error("--to writes the map of one program").error());
  }
  if (const auto free = check_output(options.output, options.files); !free)
    return report_error(free.error());
  int status = kDone;
  std::vector<Program> programs;
  for (const std::string& file : options.files) {
    Result<Program> program = load(file, options);
    if (!program) {
      status = report_error(program.error());
      continue;
    }
    for (const Problem& problem : program->problems.kept()) {
      print_message("telltale: {}\n", visible(to_string(problem)));
    }
    if (program->empty()) {
      print_message("telltale: {}: has no XRay instrumentation map and no site information\n",
                    visible(file));
    }
    if (options.strict && program->problems.damaged() && status == kDone) status = kDamaged;
    programs.push_back(*std::move(program));
  }
  if (programs.empty()) return status;
  Result<OutputFile> file = open_output(options.output);
  if (!file) return report_error(file.error());
  if (options.target.empty()) {
    const ByteSink sink = [&file](std::string_view block) { return file->write(block); };
    BlockWriter out(sink);
    write_answer(programs, options, out);
    (void)out.finish();  // file->finish() returns the error
  } else {
    write_yaml(programs.front(), *file);
  }
  // Returns any write error so far.
  if (auto done = file->finish(); !done) return report_error(done.error());
  return status;
}

}  // namespace

void add_sites_verb(Command app, int& status) {
  auto options = std::make_shared<SitesOptions>();
  Command verb =
      app.add_verb("sites", "list the instrumentation of a program: functions, sleds, sites");
  verb.add_option(
          "BIN", options->files,
          "programs, shared objects, object files, archives, .sites and .cfg files, path metadata "
          "or llvm-xray YAML maps")
      .required();
  verb.add_flag("--sleds", options->sleds, "one row per sled instead of one per function");
  const Option json = verb.add_flag("--json", options->json, "one JSON document");
  const Option csv = verb.add_flag("--csv", options->csv, "comma-separated values").excludes(json);
  verb.add_option("--to", options->target, "write the instrumentation map in this format")
      .one_of({"llvm-xray-yaml"})
      .excludes(json)
      .excludes(csv);
  add_output_option(verb, options->output, "file to write instead of standard output");
  choose_form_by_name(
      verb, {{".json", "--json"}, {".csv", "--csv"}, {kYamlExtensions, "--to", "llvm-xray-yaml"}});
  verb.add_option("--debug-directory", options->debug_directories,
                  "folder of separate debug files, searched before debuginfod");
  verb.add_option("--debug-file", options->debug_files,
                  "separate debug file of a BIN, by build-id");
  verb.add_flag("--strict", options->strict, "exit status 4 if an input is damaged");
  verb.callback([options, &status] { status = run_sites(*options); });
}

}  // namespace telltale::cli
