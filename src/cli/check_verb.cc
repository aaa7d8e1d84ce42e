#include <fmt/format.h>

#include <cerrno>
#include <memory>

#include "bytes/input_file.h"
#include "cli/reading_options.h"
#include "cli/verbs.h"
#include "formats/xray/verifier.h"
#include "formats/xray/yaml_trace.h"
#include "output/escape.h"
#include "output/json_writer.h"

namespace telltale::cli {
namespace {

using xray::Verdict;
using xray::Violation;

// One file's verdict; a file that is cut or damaged in its compression is not valid either.
struct Checked {
  std::string file;
  Verdict verdict;
  ProblemLog damage;
  bool yaml = false;  // llvm-xray's text: it has no grammar of its own, but it can be read or not
  [[nodiscard]] bool valid() const {
    return verdict.valid() && (yaml ? damage.count() == 0 : !damage.damaged());
  }
  [[nodiscard]] const char* flavour() const {
    if (yaml) return "yaml";
    return verdict.header.type == xray::LogType::fdr ? "fdr" : "basic";
  }
};

Result<Checked> check_yaml(const InputFile& file) {
  Checked checked{file.name(), {}, file.problems(), true};
  const Result<xray::YamlTrace> trace =
      xray::read_yaml_trace(file.bytes(), file.name(), checked.damage);
  if (!trace) return std::unexpected(trace.error());
  checked.verdict.header = trace->header;
  checked.verdict.records = trace->records.size();
  return checked;
}

Result<Checked> check_file(const InputFile& file) {
  if (xray::looks_like_yaml_trace(file.bytes())) return check_yaml(file);
  const Result<Verdict> verdict = xray::verify_trace(file.bytes());
  if (!verdict) return std::unexpected(verdict.error());
  return Checked{file.name(), *verdict, file.problems(), false};
}

std::string to_text(const Checked& checked) {
  const Verdict& verdict = checked.verdict;
  const std::string format = fmt::format(
      "XRay {} version {}",
      checked.yaml ? "YAML" : (verdict.header.type == xray::LogType::fdr ? "FDR" : "basic"),
      verdict.header.version);
  if (checked.valid()) {
    return fmt::format("{}: valid {}, {} records\n", visible(checked.file), format,
                       verdict.records);
  }
  std::string out;
  for (const Problem& problem : checked.damage.kept()) out += visible(to_string(problem)) + "\n";
  if (verdict.first) {
    out += fmt::format("{}: not valid {}: {}\n", visible(checked.file), format,
                       visible(to_string(*verdict.first)));
  }
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    if (verdict.counts[i] == 0) continue;
    out += fmt::format("  {:<20} {:>10}\n", to_string(static_cast<Violation::Kind>(i)),
                       verdict.counts[i]);
  }
  return out;
}

void write_json(const Checked& checked, JsonWriter& json) {
  const Verdict& verdict = checked.verdict;
  json.begin_object().member("file", checked.file).member("valid", checked.valid());
  json.member("format", fmt::format("xray-{}", checked.flavour()))
      .member("version", verdict.header.version)
      .member("records", verdict.records)
      .member("violations", verdict.violations());
  json.key("violations_by_kind").begin_object();
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    if (verdict.counts[i] != 0) {
      json.member(to_string(static_cast<Violation::Kind>(i)), verdict.counts[i]);
    }
  }
  json.end_object();
  json.key("first");
  if (verdict.first) {
    json.begin_object().member("offset", verdict.first->offset);
    json.member("kind", to_string(verdict.first->kind)).member("record", verdict.first->record);
    json.member("message", verdict.first->message).end_object();
  } else {
    json.value(nullptr);
  }
  json.end_object();
}

int run(const ReadingOptions& options) {
  std::string out;
  JsonWriter json(out, 2);
  if (options.json) json.begin_array();
  bool all_valid = true;
  for (const std::string& path : options.files) {
    const Result<InputFile> file = InputFile::open(path, options.open_options().limits);
    if (!file) return report_error(file.error());
    const Result<Checked> checked = check_file(*file);
    if (!checked) {
      Error error = checked.error();
      error.file = file->name();
      return report_error(error);
    }
    all_valid = all_valid && checked->valid();
    if (options.json) {
      write_json(*checked, json);
    } else {
      out += to_text(*checked);
    }
  }
  if (options.json) json.end_array();
  if (options.json && !out.ends_with("\n")) out += "\n";
  if (!print(out)) return report_error(io_error("standard output", "cannot write", errno).error());
  return all_valid ? kDone : kFinding;
}

}  // namespace

void add_check_verb(CLI::App& app, int& status) {
  CLI::App* verb = app.add_subcommand(
      "check", "is it valid by its own grammar? Names the first violation; exit status 1 if not");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(*verb, *options);
  verb->callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
