#include "import/formats.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "program/static_sections.h"

namespace telltale {

namespace {

std::vector<const FormatDescriptor*>& registered() {
  static std::vector<const FormatDescriptor*> all = {
#define FORMAT(name) &formats::name,
#include "import/formats.def"
#undef FORMAT
  };
  return all;
}

// Files of other tools that are often taken for a recording.
std::string describe_other_file(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "the file is empty";
  struct Other {
    std::string_view begin;
    std::string_view what;
  };
  static constexpr std::string_view kXrayProfile =
      "a profile of clang's xray-profiling mode, which has sums of calls, but no calls: record "
      "with "
      "telltale run, or with xray_mode=xray-fdr";
  static constexpr Other kOthers[] = {
      {"TTXRSIDE", "the side record of a trace, which is read with the trace: leave it out"},
      {"forpyarx", kXrayProfile},  // from a little-endian machine
      {"xrayprof", kXrayProfile},
      {"PERFILE2", "a perf.data file, which perf reads"},
      {"Ftrace!", "a uftrace recording, which uftrace reads"},
      {"\xC1\x1F\xFC\xC1", "an LTTng (CTF) trace, which babeltrace2 reads"},
      {"\x7F"
       "ELF",
       "an ELF file without anything that telltale reads"},
      {"PK\x03\x04", "a zip archive"},
      {"\x0A",
       "not a recording in any format that telltale knows; a Perfetto trace is for "
       "ui.perfetto.dev"},
      {"{", "JSON, which telltale writes but does not read"},
      {"[", "JSON, which telltale writes but does not read"},
      {"<", "HTML or XML, which telltale writes but does not read"},
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Other& other : kOthers)
    if (text.starts_with(other.begin)) return std::string(other.what);
  return "not a recording in any format that telltale knows";
}

}  // namespace

std::span<const FormatDescriptor* const> all_formats() { return registered(); }

void add_format(const FormatDescriptor& format) { registered().push_back(&format); }

Result<const FormatDescriptor*> find_format(const InputFile& file, const OpenOptions& options) {
  const FormatDescriptor* best = nullptr;
  Confidence confidence = Confidence::none;
  for (const FormatDescriptor* format : all_formats()) {
    if (!options.format_description.empty()) {
      if (format->takes_description) return format;
      continue;
    }
    const Confidence own = format->sniff(file.bytes());
    if (own <= confidence) continue;
    best = format;
    confidence = own;
  }
  if (best != nullptr) return best;
  std::string why = describe_other_file(file.bytes());
  if (may_have_static_sections(file.bytes()))
    why = "a program, not a recording: name it with --program";
  // A compressed recording of which too little is left.
  if (file.problems().damaged()) {
    if (file.bytes().empty()) why = "nothing of a recording is left";
    why = file.problems().kept().front().message + "; " + why;
  }
  return std::unexpected(Error{Error::Cause::bad_magic, file.name(), {}, why, 0});
}

std::vector<OutputFormat> output_formats() {
  std::vector<OutputFormat> all;
  for (const ExportFormat format : all_export_formats())
    all.push_back({output_name(format), format});
  for (const FormatDescriptor* format : all_formats()) {
    for (const ConvertTarget& target : format->targets) {
      const bool known = std::ranges::any_of(
          all, [&](const OutputFormat& one) { return one.name.name == target.output.name; });
      if (!known) all.push_back({target.output, std::nullopt});
    }
  }
  return all;
}

std::optional<OutputFormat> output_format_of_name(std::string_view name) {
  for (const OutputFormat& format : output_formats())
    if (format.name.name == name) return format;
  return std::nullopt;
}

const ConvertTarget* find_target(const FormatDescriptor& format, std::string_view name) {
  const auto found = std::ranges::find(
      format.targets, name, [](const ConvertTarget& target) { return target.output.name; });
  return found == format.targets.end() ? nullptr : &*found;
}

}  // namespace telltale
