// `telltale sites`: the instrumentation of programs.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytes/block_writer.h"
#include "bytes/input_file.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "formats/sampler/recognise.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/output_file.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "program/archive.h"
#include "program/elf_image.h"
#include "program/instrumentation_map.h"
#include "program/program_names.h"
#include "report/schemas/schemas.h"
#include "report/sites/program_sites.h"

namespace telltale::cli {

namespace {

struct SitesOptions {
  std::vector<std::string> files;
  std::vector<std::string> debug_directories;
  std::vector<std::string> debug_files;
  std::string output = "-";
  std::string target;
  bool sleds = false;
  bool json = false;
  bool csv = false;
  bool strict = false;
};

// One given file.
struct Program {
  std::string path;
  std::string format;   // "elf", "yaml", "sites"
  std::string machine;  // of an ELF file
  std::string build_id;
  InstrumentationMap map;
  ProgramSites sites;  // Sampler's
  ProblemLog problems;
  std::unique_ptr<Symbolizer> symbolizer;  // null for a YAML map

  [[nodiscard]] ProgramFunction describe(const InstrumentedFunction& function) const {
    return describe_function(map, function, symbolizer.get(), path);
  }
};

Result<Program> load(const std::string& path, const SitesOptions& options) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  Program program;
  program.path = path;
  program.problems.merge(input->problems());
  const bool only_sites =
      sampler::kind_of(input->bytes()) == sampler::TextKind::sites || is_archive(input->bytes());
  if (only_sites || ElfImage::recognises(input->bytes())) {
    Result<ProgramSites> sites = ProgramSites::open(path, program.problems);
    if (!sites) return std::unexpected(sites.error());
    program.sites = *std::move(sites);
    program.format = "sites";
    if (only_sites) return program;
  }
  if (!ElfImage::recognises(input->bytes())) {
    Result<InstrumentationMap> map =
        InstrumentationMap::read_yaml(input->bytes(), path, program.problems);
    if (!map) return std::unexpected(map.error());
    program.map = *std::move(map);
    program.format = "yaml";
    return program;
  }
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  if (!image) return std::unexpected(image.error());
  Result<InstrumentationMap> map = InstrumentationMap::read_elf(*image, program.problems);
  if (!map) return std::unexpected(map.error());
  program.map = *std::move(map);
  program.format = "elf";
  program.machine = image->machine_name();
  program.build_id = image->build_id();
  program.symbolizer = std::make_unique<Symbolizer>(
      path, SymbolizerOptions{options.debug_directories, options.debug_files});
  return program;
}

std::string hex(uint64_t address) { return fmt::format("{:#x}", address); }

std::string place_of(const ProgramFunction& function) {
  return function.line == 0 ? function.file : fmt::format("{}:{}", function.file, function.line);
}

std::map<SledKind, size_t> count_kinds(const InstrumentationMap& map) {
  std::map<SledKind, size_t> counts;
  for (const Sled& sled : map.sleds()) ++counts[sled.kind];
  return counts;
}

std::set<unsigned> versions_of(const InstrumentationMap& map) {
  std::set<unsigned> versions;
  for (const Sled& sled : map.sleds()) versions.insert(sled.version);
  return versions;
}

// The destination: standard output, or the file of -o. close() returns write errors.
class Answer {
 public:
  explicit Answer(const std::string& path) : path_(path) {
    if (!path_.empty() && path_ != "-") file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) error_ = errno;
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { static_cast<void>(close()); }

  void write(std::string_view text) {
    if (file_ == nullptr || error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
  }
  // Errors: io, for any write so far.
  Result<void> close() {
    if (file_ != nullptr) {
      const bool failed = file_ == stdout ? std::fflush(file_) != 0 : std::fclose(file_) != 0;
      if (failed && error_ == 0) error_ = errno;
      file_ = nullptr;
    }
    if (error_ != 0)
      return io_error(path_.empty() ? "standard output" : path_, "cannot write", error_);
    return {};
  }

 private:
  std::string path_;
  std::FILE* file_ = stdout;
  int error_ = 0;
};

// For people and CSV; JSON has more (schemas::kSites).
constexpr Field kProgram =
    field::text("program", "The program, as it was named.").titled("program");
constexpr Field kId = field::number_id("id", "The function's id.").titled("id");
constexpr Field kFunction = field::text("function", "Name of the function.").titled("function");
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

TableSchema columns_of(std::span<const Field> declared, bool with_program) {
  TableSchema schema(declared);
  return with_program ? schema : schema.leave_out({"program"});
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

Table make_table(const std::vector<Program>& programs, const SitesOptions& options,
                 bool with_program) {
  return options.sleds ? sleds_table(programs, with_program)
                       : functions_table(programs, with_program);
}

std::string summary(const Program& program) {
  std::string text = visible(program.path) + ":";
  if (program.format == "yaml") text += " a YAML map,";
  if (!program.machine.empty()) text += fmt::format(" {},", program.machine);
  if (!program.build_id.empty()) text += fmt::format(" build-id {},", program.build_id);
  if (program.sites.count() != 0 && program.map.functions().empty())
    return text + " " + program.sites.summary() + "\n";
  text += fmt::format(" {} functions, {} sleds", program.map.functions().size(),
                      program.map.sleds().size());
  const char* separator = " (";
  for (const auto& [kind, count] : count_kinds(program.map)) {
    text += fmt::format("{}{} {}", separator, count, to_string(kind));
    separator = ", ";
  }
  if (!program.map.sleds().empty()) text += ")";
  for (const unsigned version : versions_of(program.map))
    text += fmt::format(", map version {}", version);
  if (program.sites.count() != 0) text += "; " + program.sites.summary();
  return text + "\n";
}

void write_sleds(JsonWriter& json, const Program& program, const InstrumentedFunction& function) {
  json.key("sleds").begin_array();
  for (const Sled& sled : program.map.sleds(function)) {
    json.begin_object();
    json.member("address", hex(sled.address)).member("kind", to_string(sled.kind));
    json.member("always_instrument", sled.always_instrument)
        .member("version", unsigned{sled.version});
    json.end_object();
  }
  json.end_array();
}

void write_function(JsonWriter& json, const Program& program, const InstrumentedFunction& function,
                    bool sleds) {
  const ProgramFunction named = program.describe(function);
  json.begin_object();
  json.member("id", function.id).member("address", hex(function.address));
  if (function.section != 0) json.member("section", function.section);
  json.member("function", named.name).member("linkage_name", named.linkage_name);
  json.member("file", named.file)
      .member("line", named.line)
      .member("sled_count", function.sled_count);
  if (sleds) write_sleds(json, program, function);
  json.end_object();
}

void write_program(JsonWriter& json, const Program& program, bool sleds, const auto& flush) {
  json.begin_object();
  json.member("file", program.path).member("format", program.format);
  json.member("machine", program.machine).member("build_id", program.build_id);
  json.member("debug_file",
              program.symbolizer == nullptr ? std::string() : program.symbolizer->debug_file());
  json.key("map_versions").begin_array();
  for (const unsigned version : versions_of(program.map)) json.value(version);
  json.end_array();
  json.member("function_count", program.map.functions().size())
      .member("sled_count", program.map.sleds().size());
  json.key("sleds_by_kind").begin_object();
  for (const auto& [kind, count] : count_kinds(program.map)) json.member(to_string(kind), count);
  json.end_object();
  json.key("problems").begin_array();
  for (const Problem& problem : program.problems.kept()) {
    json.begin_object();
    json.member("offset", problem.offset).member("record", problem.record);
    json.member("message", problem.message).member("lost_bytes", problem.lost_bytes);
    json.end_object();
  }
  json.end_array();
  json.key("functions").begin_array();
  for (const InstrumentedFunction& function : program.map.functions()) {
    write_function(json, program, function, sleds);
    flush();
  }
  json.end_array();
  json.member("site_count", program.sites.count());
  json.key("sites_by_scheme").begin_object();
  for (const auto& [scheme, count] : program.sites.by_scheme()) json.member(scheme, count);
  json.end_object();
  json.key("sites");
  program.sites.write_rows(json, flush);
  json.end_object();
}

void write_json(const std::vector<Program>& programs, const SitesOptions& options,
                OutputFile& file) {
  std::string text;
  JsonWriter json(text, 4);
  const auto flush = [&] {
    (void)file.write(text);
    text.clear();
  };
  begin_document(json, schemas::kSites, {});
  json.key("programs").begin_array();
  for (const Program& program : programs) write_program(json, program, options.sleds, flush);
  json.end_array();
  ProblemLog problems;
  for (const Program& program : programs) problems.merge(program.problems);
  end_document(json, problems);
  flush();
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
    fmt::print(stderr,
               "telltale: {}: {} sleds have kinds without a name in llvm-xray and were omitted\n",
               visible(program.path), left_out);
  }
}

void write_answer(const std::vector<Program>& programs, const SitesOptions& options,
                  OutputFile& file) {
  if (!options.target.empty()) return write_yaml(programs.front(), file);
  if (options.json) return write_json(programs, options, file);
  const bool with_program = options.csv || programs.size() > 1;
  const Table table = make_table(programs, options, with_program);
  TableSchema site_columns(ProgramSites::columns());
  if (!with_program) site_columns.leave_out({"program"});
  uint64_t site_count = 0;
  for (const Program& program : programs) site_count += program.sites.count();
  // Machine-readable output can be joined with `resolve`.
  const size_t unit_digits =
      options.csv ? ProgramSites::kAllUnitDigits : ProgramSites::kShownUnitDigits;
  const Rows sites = [&](RowSink& rows) {
    for (const Program& program : programs) program.sites.add_rows(program.path, unit_digits, rows);
  };
  const ByteSink sink = [&file](std::string_view block) { return file.write(block); };
  BlockWriter out(sink);
  if (options.csv) {
    // A CSV file is one table.
    if (table.rows() == 0 && site_count != 0) {
      CsvSink sink_of_sites(site_columns, out);
      sites(sink_of_sites);
    } else {
      table.write_csv(out);
    }
  } else {
    for (const Program& program : programs) out.write(summary(program));
    if (table.rows() != 0) {
      out.write("\n");
      table.write_text(out);
    }
    if (site_count != 0) {
      out.write("\n");
      telltale::write_text(site_columns, sites, out);
    }
  }
  (void)out.finish();  // file.finish() returns the error
}

int run_sites(const SitesOptions& options) {
  if (!options.target.empty() && options.files.size() != 1) {
    return report_error(usage_error("--to writes the map of one program").error());
  }
  int status = kDone;
  std::vector<Program> programs;
  for (const std::string& file : options.files) {
    Result<Program> program = load(file, options);
    if (!program) {
      status = report_error(program.error());
      continue;
    }
    for (const Problem& problem : program->problems.kept()) {
      fmt::print(stderr, "telltale: {}\n", visible(to_string(problem)));
    }
    if (program->map.functions().empty() && program->sites.count() == 0) {
      fmt::print(stderr, "telltale: {}: has no XRay instrumentation map and no site information\n",
                 visible(file));
    }
    if (options.strict && program->problems.damaged() && status == kDone) status = kDamaged;
    programs.push_back(*std::move(program));
  }
  if (programs.empty()) return status;
  Result<OutputFile> file = OutputFile::open(options.output);
  if (!file) return report_error(file.error());
  write_answer(programs, options, *file);
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
          "programs, shared objects, object files, archives, .sites files or llvm-xray YAML maps")
      .required();
  verb.add_flag("--sleds", options->sleds, "one row per sled instead of one per function");
  const Option json = verb.add_flag("--json", options->json, "one JSON document");
  const Option csv = verb.add_flag("--csv", options->csv, "comma-separated values").excludes(json);
  verb.add_option("--to", options->target, "write the instrumentation map in this format")
      .one_of({"llvm-xray-yaml"})
      .excludes(json)
      .excludes(csv);
  verb.add_option("-o,--output", options->output, "file to write instead of standard output");
  verb.add_option("--debug-directory", options->debug_directories,
                  "folder of separate debug files, searched before debuginfod; repeatable");
  verb.add_option("--debug-file", options->debug_files,
                  "separate debug file of a BIN, by build-id; repeatable");
  verb.add_flag("--strict", options->strict, "exit status 4 if an input is damaged");
  verb.callback([options, &status] { status = run_sites(*options); });
}

}  // namespace telltale::cli
