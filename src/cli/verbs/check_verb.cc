#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "bytes/input_file.h"
#include "cli/options/for_each_file.h"
#include "cli/options/reading_options.h"
#include "cli/options/recording_writer.h"
#include "cli/verbs/verbs.h"
#include "import/study.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "report/schemas/schemas.h"
#include "report/soundness.h"
#include "report/study_check.h"

namespace telltale::cli {
namespace {

std::string to_text(const FileCheck& checked) {
  if (checked.valid) {
    return fmt::format("{}: valid {}, {}\n", visible(checked.file), checked.title,
                       counted(checked.records, "record"));
  }
  std::string out;
  // Damage is also a violation of the grammar, unless the grammar does not cover it.
  if (!checked.first) {
    for (const Problem& problem : checked.damage.kept()) {
      if (is_damage(problem.kind) || !checked.damage.damaged())
        out += visible(to_string(problem)) + "\n";
    }
  }
  out += describe_unsound(checked);
  for (const auto& [kind, count] : checked.violations) {
    out += fmt::format("  {:<20} {:>10}\n", kind, count);
  }
  return out;
}

// Versions of all formats so far are numbers; others are printed as strings.
void write_version(const std::string& version, ObjectWriter& row) {
  const bool number = !version.empty() && version.size() < 10 &&
                      version.find_first_not_of("0123456789") == std::string::npos;
  number ? row.add("version", std::stoull(version)) : row.add("version", version);
}

void write_row(const FileCheck& checked, ObjectWriter& row) {
  uint64_t violations = 0;
  for (const auto& [kind, count] : checked.violations) violations += count;
  row.add("file", checked.file).add("valid", checked.valid).add("format", checked.format);
  write_version(checked.version, row);
  row.add("records", checked.records).add("violations", violations);
  row.add("damaged_places", checked.damage.damage_count());
  row.map("violations_by_kind", [&](MapWriter& kinds) {
    for (const auto& [kind, count] : checked.violations) kinds.add(kind, count);
  });
  if (!checked.first) {
    row.add("first", nullptr);
    return;
  }
  row.object("first", [&](ObjectWriter& first) {
    first.add("offset", checked.first->offset).add("kind", checked.first->kind);
    first.add("record", checked.first->record).add("message", checked.first->message);
  });
}

std::string to_json(const std::vector<FileCheck>& files, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kCheck, {});
  document.list("rows", [&](ListWriter& rows) {
    for (const FileCheck& checked : files)
      rows.row([&](ObjectWriter& row) { write_row(checked, row); });
  });
  document.finish(problems);
  return out;
}

// Adds the studies among the inputs.
Result<void> check_studies(const ReadingOptions& options, std::vector<FileCheck>& files,
                           ProblemLog& problems) {
  const Result<CallFilter> filter = options.filter();
  if (!filter) return std::unexpected(filter.error());
  for (const std::string& path : options.files) {
    if (!is_study(path)) continue;
    if (!filter->keeps_everything())
      return usage_error("filters select records by calls, but " + path + " is a study");
    Result<FileCheck> checked = check_study(path, options.open_options());
    if (!checked) return std::unexpected(checked.error());
    problems.merge(checked->damage);
    files.push_back(*std::move(checked));
  }
  return {};
}

int run(const ReadingOptions& options) {
  std::vector<FileCheck> files;
  ProblemLog problems;
  const auto check_one = [&](const InputFile& file, const FormatDescriptor&,
                             RecordFilter* chosen) -> Result<void> {
    Result<FileCheck> checked = check_file(file, options.open_options(), chosen);
    if (!checked) return std::unexpected(checked.error());
    problems.merge(checked->damage);
    files.push_back(*std::move(checked));
    return {};
  };
  Result<void> done = check_studies(options, files, problems);
  ReadingOptions others = options;
  std::erase_if(others.files, is_study);
  if (done && !others.files.empty()) done = for_each_file(others, check_one);
  // What was found before a file that cannot be read is printed, too.
  std::string out;
  if (options.json && done) {
    out = to_json(files, problems);
  } else if (!options.json) {
    for (const FileCheck& checked : files) out += to_text(checked);
  }
  if (!print(out)) return kUnreadable;
  if (!done) return report_error(done.error());
  if (std::ranges::all_of(files, &FileCheck::valid)) return kDone;
  remark_writers(others.open_options());
  return kFinding;
}

}  // namespace

void add_check_verb(Command app, int& status) {
  Command verb = app.add_verb("check",
                              "check a recording, or all files of a study, against the grammar of "
                              "its format; exit status 1 and the first violation if it is invalid");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(verb, *options);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
