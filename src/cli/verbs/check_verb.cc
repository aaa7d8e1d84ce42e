#include <fmt/format.h>

#include <cerrno>
#include <memory>

#include "bytes/input_file.h"
#include "cli/options/for_each_file.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "report/schemas/schemas.h"
#include "report/soundness.h"

namespace telltale::cli {
namespace {

std::string to_text(const FileCheck& checked) {
  if (checked.valid) {
    return fmt::format("{}: valid {}, {} records\n", visible(checked.file), checked.title,
                       checked.records);
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
void write_version(const std::string& version, JsonWriter& json) {
  const bool number = !version.empty() && version.size() < 10 &&
                      version.find_first_not_of("0123456789") == std::string::npos;
  number ? json.member("version", std::stoull(version)) : json.member("version", version);
}

void write_json(const FileCheck& checked, JsonWriter& json) {
  uint64_t violations = 0;
  for (const auto& [kind, count] : checked.violations) violations += count;
  json.begin_object().member("file", checked.file).member("valid", checked.valid);
  json.member("format", checked.format);
  write_version(checked.version, json);
  json.member("records", checked.records).member("violations", violations);
  json.member("damaged_places", checked.damage.damage_count());
  json.key("violations_by_kind").begin_object();
  for (const auto& [kind, count] : checked.violations) json.member(kind, count);
  json.end_object();
  json.key("first");
  if (checked.first) {
    json.begin_object().member("offset", checked.first->offset);
    json.member("kind", checked.first->kind).member("record", checked.first->record);
    json.member("message", checked.first->message).end_object();
  } else {
    json.value(nullptr);
  }
  json.end_object();
}

int run(const ReadingOptions& options) {
  std::string out;
  JsonWriter json(out, 2);
  if (options.json) {
    begin_document(json, schemas::kCheck, {});
    json.key("rows").begin_array();
  }
  ProblemLog problems;
  bool all_valid = true;
  const auto check_one = [&](const InputFile& file, const FormatDescriptor&,
                             RecordFilter* chosen) -> Result<void> {
    const Result<FileCheck> checked = check_file(file, options.open_options(), chosen);
    if (!checked) return std::unexpected(checked.error());
    all_valid = all_valid && checked->valid;
    problems.merge(checked->damage);
    if (options.json) {
      write_json(*checked, json);
    } else {
      out += to_text(*checked);
    }
    return {};
  };
  if (const Result<void> done = for_each_file(options, check_one); !done)
    return report_error(done.error());
  if (options.json) {
    json.end_array();
    end_document(json, problems);
  }
  if (!print(out)) return report_error(io_error("standard output", "cannot write", errno).error());
  return all_valid ? kDone : kFinding;
}

}  // namespace

void add_check_verb(Command app, int& status) {
  Command verb = app.add_verb("check",
                              "check a recording against the grammar of its format; exit status 1 "
                              "and the first violation if it is invalid");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(verb, *options);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
