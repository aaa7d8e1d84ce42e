// resolveSamples, resolveTimestamps and resolve-backtrace, as Sampler's published text has them.
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "bytes/block_writer.h"
#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "formats/sampler/counter_rows.h"
#include "import/sampler/sampler_backtrace.h"
#include "import/sampler/sampler_reports.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

constexpr int kNotResolved = 1;  // a file has no site information
constexpr int kMismatched =
    2;  // samples without sites, or with another number of sites; no frame of any FILE
constexpr int kMalformed = 1;  // resolve-backtrace
constexpr std::string_view kUnknown = "??";

void print_problems(const ProblemLog& problems) {
  for (const Problem& problem : problems.kept())
    print_message("telltale: {}\n", visible(to_string(problem)));
}

// The published text puts a section name before the files; its examples omit it.
SamplerOptions sites_options(std::vector<std::string> files) {
  SamplerOptions options;
  options.any_text = true;
  std::error_code error;
  if (files.size() > 1 && files.front().starts_with('.') && !files.front().starts_with("./") &&
      !files.front().starts_with("../") && !std::filesystem::exists(files.front(), error)) {
    options.section = files.front();
    files.erase(files.begin());
  }
  options.programs = std::move(files);
  return options;
}

void append_samples_row(const CountedSite& site, std::string& out) {
  append_format(out, "{}\t{}\t{}\t{}", site.program, site.unit, site.scheme->name, site.text);
  if (site.scheme->bounds) append_format(out, "\t{}\t{}", site.minimum, site.maximum);
  for (const uint64_t count : site.counts) {
    const fmt::format_int digits(count);
    out += '\t';
    out.append(digits.data(), digits.size());
  }
  out += '\n';
}

Result<void> write_samples(const SamplerReports& reports) {
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  for (const SamplerReports::Section& section : reports.sections()) {
    if (section.sites == nullptr) continue;
    reports.for_each_site(section, [&](const CountedSite& site) {
      if (site.reported) append_samples_row(site, out.block());
      out.flush_if_full();
    });
  }
  return out.finish();
}

Result<void> write_timestamps(const SamplerReports& reports) {
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  for (const auto& [index, first] : reports.timestamps()) {
    const SamplerReports::Section& section = reports.sections()[index];
    if (section.sites == nullptr) continue;
    reports.for_each_site(section, [&](const CountedSite& site) {
      append_format(out.block(), "{}\t{}\t{}\t{}\t{}\t{}\n",
                    first ? site.first_time : site.last_time, site.program, site.unit,
                    site.scheme->name, first ? "first" : "last", site.text);
      out.flush_if_full();
    });
  }
  return out.finish();
}

int run_resolve(const std::vector<std::string>& files,
                Result<void> (*write)(const SamplerReports&)) {
  Result<InputFile> input = InputFile::open("-");
  if (!input) return report_error(input.error());
  std::vector<InputFile> inputs;
  inputs.push_back(*std::move(input));
  const Result<SamplerReports> reports =
      SamplerReports::open(std::move(inputs), sites_options(files));
  if (!reports) return report_error(reports.error());
  print_problems(reports->problems());
  if (reports->program_without_sites()) return kNotResolved;
  if (const Result<void> done = write(*reports); !done) return report_error(done.error());
  const bool mismatched = reports->unresolved_sections() != 0 || reports->uneven_sections() != 0 ||
                          reports->bad_rows() != 0;
  return mismatched ? kMismatched : static_cast<int>(kDone);
}

struct BacktraceOptions {
  std::vector<std::string> modules;
  bool header = false;
};

std::string_view or_unknown(std::string_view text) { return text.empty() ? kUnknown : text; }

// The name as given to the compiler, if the file is below the compilation directory.
std::string_view file_of(const ResolvedFrame& frame) {
  std::string_view file = frame.file;
  if (!frame.directory.empty() && file.starts_with(frame.directory) &&
      file.substr(frame.directory.size()).starts_with('/'))
    file.remove_prefix(frame.directory.size() + 1);
  return or_unknown(file);
}

int run_backtrace(const BacktraceOptions& options) {
  if (options.modules.empty()) {
    print_message("telltale: resolve-backtrace needs the program's file\n");
    return kMalformed;
  }
  const Result<InputFile> input = InputFile::open("-");
  if (!input) return report_error(input.error());
  for (const std::string& module : options.modules) {
    const Result<InputFile> file = InputFile::open(module);
    if (!file) return report_error(file.error());
  }
  BacktraceResolver resolver(options.modules);
  const std::string_view text(reinterpret_cast<const char*>(input->bytes().data()),
                              input->bytes().size());
  std::string out = options.header ? "return\tmodule\tfunction\tfile\tline\n" : "";
  int status = kDone;
  sampler::for_each_line(text, [&](std::string_view line, size_t offset) {
    const auto frame = sampler::parse_backtrace_frame(line);
    if (!frame) {
      print_message("telltale: standard input: byte {}: not a line of a backtrace\n", offset);
      status = kMalformed;
      return;
    }
    const ResolvedFrame resolved = resolver.resolve(*frame);
    out += fmt::format("{}\t{}\t{}\t{}\t{}\n", resolved.address, or_unknown(resolved.module),
                       or_unknown(resolved.function), file_of(resolved), resolved.line);
  });
  if (const Result<void> done = print_block(out); !done) return report_error(done.error());
  if (const std::string mismatch = resolver.mismatch(); !mismatch.empty()) {
    print_message("telltale: {}\n", visible(mismatch));
    if (status == kDone) status = kMismatched;
  }
  return status;
}

void add_resolve_tool(Command app, int& status, const std::string& name,
                      const std::string& description,
                      Result<void> (*write)(const SamplerReports&)) {
  Command verb = app.add_verb(name, description);
  const auto files = std::make_shared<std::vector<std::string>>();
  verb.add_option("FILE", *files,
                  "optional section name (starts with a dot), then programs, shared libraries, "
                  "object files, archives, .sites files")
      .required();
  verb.callback([files, write, &status] { status = run_resolve(*files, write); });
}

}  // namespace

void add_resolve_samples_verb(Command app, int& status) {
  add_resolve_tool(app, status, "resolveSamples",
                   "join the samples on standard input with their sites, one line per site",
                   write_samples);
}

void add_resolve_timestamps_verb(Command app, int& status) {
  add_resolve_tool(app, status, "resolveTimestamps",
                   "join the timestamps on standard input with their sites, one line per site",
                   write_timestamps);
}

void add_resolve_backtrace_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "resolve-backtrace",
      "resolve the main-backtrace on standard input: return address, module, function, file, line");
  const auto options = std::make_shared<BacktraceOptions>();
  verb.add_option("FILE", options->modules,
                  "the program, and shared libraries that the backtrace names");
  verb.add_flag("--header", options->header, "print the names of the columns first");
  verb.callback([options, &status] { status = run_backtrace(*options); });
}

}  // namespace telltale::cli
