// extract-section and extract-report, from the sections "Embedding and Extraction" and "Subreport
// Extraction" of Sampler's published text.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/site_info.h"
#include "output/escape.h"
#include "program/static_sections.h"

namespace telltale::cli {
namespace {

constexpr int kMissing = 1;

void complain(const std::string& text) { print_message("telltale: {}\n", visible(text)); }

void complain(const ProblemLog& problems) {
  for (const Problem& problem : problems.kept()) complain(to_string(problem));
}

struct ExtractOptions {
  std::string section;
  std::vector<std::string> files;
  bool require = false;
};

int run_section(const ExtractOptions& options) {
  for (const std::string& path : options.files) {
    const Result<InputFile> file = InputFile::open(path);
    if (!file) return report_error(file.error());
    ProblemLog problems;
    const Result<StaticSections> found =
        read_static_sections(file->bytes(), path, options.section, problems);
    if (!found) return report_error(found.error());
    complain(problems);
    if (found->sections.empty()) {
      complain(fmt::format("{}: section {} is missing", path, options.section));
      if (options.require) return kMissing;
    }
    bool empty = !found->sections.empty();
    for (const StaticSection& section : found->sections) {
      const std::string text = sampler::without_zero_bytes(section.bytes);
      empty = empty && text.empty();
      if (!print(text)) return kUnreadable;
    }
    if (empty) complain(fmt::format("{}: section {} is empty", path, options.section));
  }
  return kDone;
}

int run_report(const std::string& id) {
  const Result<InputFile> file = InputFile::open("-");
  if (!file) return report_error(file.error());
  bool inside = false;
  bool seen = false;
  ProblemLog problems;
  sampler::ReportReader reader(file->bytes());
  while (const std::optional<sampler::ReportItem> item = reader.next()) {
    if (item->complaint) problems.add(problem_of(*item, file->name()));
    if (item->kind == sampler::ReportItem::Kind::report_begin) {
      inside = item->id == id;
      seen = seen || inside;
    } else if (item->kind == sampler::ReportItem::Kind::report_end) {
      inside = false;
    } else if (inside && !print(item->bytes)) {
      return kUnreadable;
    }
  }
  complain(problems);
  return seen ? static_cast<int>(kDone) : kMissing;
}

}  // namespace

void add_extract_section_verb(Command app, int& status) {
  Command verb =
      app.add_verb("extract-section",
                   "extract a section with static information from programs, without padding");
  const auto options = std::make_shared<ExtractOptions>();
  verb.add_option("SECTION", options->section,
                  ".debug_site_info, .debug_sampler_cfg, .debug_sampler_implications or "
                  ".debug_sampler_dataflow; .debug_PT, .debug_CC, .debug_BBC or .debug_FC")
      .required();
  verb.add_option("FILE", options->files, "programs, shared libraries, object files, archives")
      .required();
  verb.add_flag("--require", options->require, "exit status 1 if a file does not have the section");
  verb.callback([options, &status] { status = run_section(*options); });
}

void add_extract_report_verb(Command app, int& status) {
  Command verb = app.add_verb("extract-report",
                              "print one subreport of the feedback report on standard input; exit "
                              "status 1 if it is missing");
  const auto id = std::make_shared<std::string>();
  verb.add_option("ID", *id, "samples, main-backtrace, ...").required();
  verb.callback([id, &status] { status = run_report(*id); });
}

}  // namespace telltale::cli
