// resolve-cfg and find-sampler-info: static information embedded in programs.
#include <fmt/format.h>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sort_rows.h"
#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "formats/sampler/cfg.h"
#include "formats/sampler/recognise.h"
#include "formats/sampler/site_info.h"
#include "output/dump/cfg_text.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "program/elf_image.h"
#include "program/static_sections.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kSomeUnreadable = 1;

void print_error(std::string_view text) { print_message("telltale: {}\n", visible(text)); }

struct GraphOptions {
  std::vector<std::string> files;
  bool dump = false;
  bool dot = false;
  bool calls = false;
  bool verbose = false;
};

// Owns all input text: the graphs are views of it.
struct Graphs {
  std::deque<InputFile> files;
  std::deque<StaticSections> sections;
  std::deque<sampler::CfgInfo> infos;
  sampler::GraphProgram program;
  ProblemLog problems;
};

Result<void> add_file(const std::string& path, Graphs& graphs) {
  Result<InputFile> opened = InputFile::open(path);
  if (!opened) return std::unexpected(opened.error());
  const InputFile& file = graphs.files.emplace_back(*std::move(opened));
  const auto add = [&](Bytes bytes, uint64_t offset, const std::string& name) {
    const sampler::CfgInfo& info =
        graphs.infos.emplace_back(sampler::CfgInfo::read(bytes, path, offset, graphs.problems));
    graphs.program.add(info, name);
  };
  if (!may_have_static_sections(file.bytes())) {
    if (sampler::kind_of(file.bytes()) != sampler::TextKind::graphs && !path.ends_with(".cfg")) {
      return std::unexpected(Error{Error::Cause::bad_magic,
                                   path,
                                   {},
                                   "neither a program nor a file of control flow graphs",
                                   0});
    }
    add(file.bytes(), 0, path);
    return {};
  }
  Result<StaticSections> found =
      read_static_sections(file.bytes(), path, sampler::kCfgSection, graphs.problems);
  if (!found) return std::unexpected(found.error());
  if (found->sections.empty()) {
    return std::unexpected(Error{Error::Cause::bad_field,
                                 path,
                                 {},
                                 fmt::format("has no section {}", sampler::kCfgSection),
                                 {}});
  }
  for (const StaticSection& section : graphs.sections.emplace_back(*std::move(found)).sections)
    add(section.bytes, section.offset,
        section.member.empty() ? path : fmt::format("{}({})", path, section.member));
  return {};
}

int run_cfg(const GraphOptions& options) {
  Graphs graphs;
  int status = kDone;
  for (const std::string& path : options.files) {
    std::error_code error;
    if (fs::is_directory(path, error)) continue;
    const Result<void> added = add_file(path, graphs);
    if (!added) {
      print_error(to_string(added.error()));
      status = kSomeUnreadable;
    } else if (options.verbose) {
      print_error(fmt::format("{}: read", path));
    }
  }
  for (const Problem& problem : graphs.problems.kept()) print_error(to_string(problem));
  if (graphs.problems.damaged()) status = kSomeUnreadable;
  for (const std::string& line : graphs.program.duplicate_exports()) print_error(line);
  const Result<void> done = options.dot     ? graphs.program.write_dot(print_block)
                            : options.calls ? graphs.program.write_calls(print_block)
                                            : graphs.program.write_dump(print_block);
  return done ? status : report_error(done.error());
}

struct FindOptions {
  std::string from;
  std::string save;
  std::vector<std::string> edit;  // from, to
  std::string library_folder = "usr/lib/sampler";
};

// The path with the prefix replaced, if it has that prefix.
std::string edited(std::string_view path, const FindOptions& options) {
  if (options.edit.size() != 2 || !path.starts_with(options.edit[0])) return std::string(path);
  return options.edit[1] + std::string(path.substr(options.edit[0].size()));
}

std::string edited_sites(const std::string& text, const FindOptions& options) {
  ProblemLog problems;
  const sampler::SiteInfo info =
      sampler::SiteInfo::read(std::as_bytes(std::span(text)), {}, 0, problems);
  std::string out;
  for (const sampler::SitesSection& section : info.sections()) {
    std::vector<std::string> rows;
    for (size_t i = 0; i < section.size(); ++i) {
      const sampler::SiteRow row = section.row(i);
      rows.push_back(edited(row.file(), options) + std::string(row.line.substr(row.file().size())));
    }
    sampler::append_sites_section(out, section.unit, section.scheme,
                                  std::vector<std::string_view>(rows.begin(), rows.end()));
  }
  return out;
}

// In the line of a function or node, the file name precedes the last tab.
std::string edited_line(std::string_view line, size_t file_begin, const FindOptions& options) {
  return std::string(line.substr(0, file_begin)) + edited(line.substr(file_begin), options);
}

std::string edited_graphs(const std::string& text, const FindOptions& options) {
  ProblemLog problems;
  const sampler::CfgInfo info =
      sampler::CfgInfo::read(std::as_bytes(std::span(text)), {}, 0, problems);
  std::string written;
  for (const sampler::CfgUnit& unit : info.units()) append_cfg_unit(written, info, unit);
  std::string out;
  // In the output of append_cfg_unit, the lines before a line determine its role.
  enum class Place { version, source, signature, function, node, successors, callees };
  Place place = Place::version;
  for (size_t at = 0; at < written.size();) {
    const size_t end = written.find('\n', at);
    const std::string_view line = std::string_view(written).substr(at, end - at);
    at = end + 1;
    size_t file_begin = line.size();
    switch (place) {
      case Place::version:
        place = Place::source;
        break;
      case Place::source:
        file_begin = 0;
        place = Place::signature;
        break;
      case Place::signature:
        place = Place::function;
        break;
      case Place::function:
        if (!line.empty()) file_begin = line.find('\t', 2) + 1;
        place = line.empty() ? Place::version : Place::node;
        break;
      case Place::node:
        if (!line.empty()) file_begin = 0;
        place = line.empty() ? Place::function : Place::successors;
        break;
      case Place::successors:
        place = Place::callees;
        break;
      case Place::callees:
        place = Place::node;
        break;
    }
    out += edited_line(line, file_begin, options) + "\n";
  }
  return out;
}

Result<void> save(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return io_error(path.parent_path(), "cannot create", error.value());
  Result<OutputFile> out = OutputFile::open(path);
  if (!out) return std::unexpected(out.error());
  if (Result<void> done = out->write(text); !done) return done;
  return out->finish();
}

// All sections of that name, without padding; empty: none.
Result<std::string> section_text(const InputFile& file, const char* section, ProblemLog& problems) {
  const Result<StaticSections> found =
      read_static_sections(file.bytes(), file.name(), section, problems);
  if (!found) return std::unexpected(found.error());
  std::string text;
  for (const StaticSection& one : found->sections) text += sampler::without_zero_bytes(one.bytes);
  return text;
}

Result<void> save_info(const fs::path& path, const FindOptions& options, ProblemLog& problems) {
  Result<InputFile> file = InputFile::open(path);
  if (!file || !ElfImage::recognises(file->bytes())) return {};
  const Result<std::string> sites = section_text(*file, sampler::kSitesSection, problems);
  if (!sites) {
    print_error(to_string(sites.error()));
    return {};
  }
  Result<std::string> graphs = section_text(*file, sampler::kCfgSection, problems);
  const std::string relative = path.lexically_relative(options.from);
  const fs::path base = fs::path(options.save) / options.library_folder / "sites" / relative;
  const bool edit = options.edit.size() == 2;
  if (!sites->empty()) {
    const Result<void> done =
        save(base.string() + ".sites", edit ? edited_sites(*sites, options) : *sites);
    if (!done) return done;
  }
  if (graphs && !graphs->empty())
    return save(base.string() + ".cfg", edit ? edited_graphs(*graphs, options) : *graphs);
  return {};
}

int run_find(const FindOptions& options) {
  std::error_code error;
  std::vector<fs::path> files;
  // Does not follow links: each file is visited once, and none outside the folder.
  for (fs::recursive_directory_iterator at(options.from, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error) && !at->is_symlink(error)) files.push_back(at->path());
  }
  if (error) return report_error(io_error(options.from, "cannot read", error.value()).error());
  sort_rows(files);
  ProblemLog problems;
  for (const fs::path& path : files) {
    if (const Result<void> done = save_info(path, options, problems); !done)
      return report_error(done.error());
  }
  for (const Problem& problem : problems.kept()) print_error(to_string(problem));
  return kDone;
}

}  // namespace

void add_resolve_cfg_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "resolve-cfg", "control flow graphs of programs, with callees resolved between units");
  const auto options = std::make_shared<GraphOptions>();
  verb.add_option("FILE", options->files, ".cfg files, programs, archives; folders are skipped")
      .required();
  const Option dump = verb.add_flag("--dump", options->dump, "as text (the preset)");
  const Option dot =
      verb.add_flag("--dot", options->dot, "for Graphviz: statements").excludes(dump);
  verb.add_flag("--dot-calls", options->calls, "for Graphviz: which function calls which")
      .excludes(dump)
      .excludes(dot);
  verb.add_flag("--verbose", options->verbose, "print the name of each file read");
  verb.callback([options, &status] { status = run_cfg(*options); });
}

void add_find_sampler_info_verb(Command app, int& status) {
  Command verb = app.add_verb("find-sampler-info",
                              "save the static information of all programs below a folder");
  const auto options = std::make_shared<FindOptions>();
  verb.add_option("--extract", options->from, "folder to look through; links are not followed")
      .type_name("DIR")
      .required();
  verb.add_option("--save", options->save, "folder to save to").type_name("DIR").required();
  verb.add_option("--edit-source", options->edit, "replace this beginning of source file names")
      .type_name("FROM TO")
      .expected(2);
  verb.add_option("--library-folder", options->library_folder, "below --save")
      .type_name("DIR")
      .show_default();
  verb.callback([options, &status] { status = run_find(*options); });
}

}  // namespace telltale::cli
