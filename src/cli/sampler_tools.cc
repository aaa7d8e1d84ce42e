#include "cli/sampler_tools.h"

#include <fmt/format.h>

#include <string_view>

#include "formats/sampler/recognise.h"
#include "formats/sampler/verifier.h"
#include "output/sampler_dump.h"

namespace telltale::cli {
namespace {

using sampler::TextKind;

Result<void> dump(const InputFile& file, const OpenOptions&, DumpStyle style, const ByteSink& sink,
                  ProblemLog& problems, RecordFilter*) {
  switch (sampler::kind_of(file.bytes())) {
    case TextKind::sites:
      return sampler::dump_sites(file.bytes(), file.name(), style, sink, problems);
    case TextKind::graphs:
      return sampler::dump_graphs(file.bytes(), file.name(), style, sink, problems);
    default:
      return sampler::dump_report(file.bytes(), file.name(), style, sink, problems);
  }
}

Result<FileCheck> check(const InputFile& file, const OpenOptions&, RecordFilter*) {
  FileCheck checked;
  checked.damage.merge(file.problems());
  sampler::Verdict verdict;
  switch (sampler::kind_of(file.bytes())) {
    case TextKind::sites:
      verdict = sampler::verify_sites(file.bytes());
      checked.format = "sampler-sites";
      checked.title = "Sampler site information";
      break;
    case TextKind::graphs:
      verdict = sampler::verify_graphs(file.bytes());
      checked.format = "sampler-cfg";
      checked.title = "Sampler control flow graphs, version 0.1";
      break;
    default:
      verdict = sampler::verify_report(file.bytes());
      checked.format = "sampler";
      checked.title = "Sampler feedback report";
  }
  checked.version = checked.format == "sampler-cfg" ? "0.1" : "1";
  tell_verdict<sampler::Violation>(verdict, checked);
  return checked;
}

Result<RecordLosses> convert(const InputFile&, const OpenOptions&, const RecordsTarget& wanted,
                             const ByteSink&, ProblemLog&) {
  return usage_error(
      fmt::format("a feedback report cannot be written as {}", export_format_name(wanted.format)));
}

}  // namespace

const FormatTools kSamplerTools = {sampler::looks_like_text, dump, check, convert};

}  // namespace telltale::cli
