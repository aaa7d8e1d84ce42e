#include "output/export_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace telltale {
namespace {

struct Description {
  ExportFormat format;
  std::string_view name;
  std::string_view extensions;  // separated by blanks; the longest that fits counts
  std::string_view text;
};

constexpr auto kFormats = std::to_array<Description>({
    {ExportFormat::perfetto, "perfetto", ".perfetto-trace .pftrace",
     "timeline for ui.perfetto.dev"},
    {ExportFormat::chrome, "chrome", ".json", "timeline, trace_event JSON"},
    {ExportFormat::json, "json", ".calls.json", "a JSON object a call or event"},
    {ExportFormat::csv, "csv", ".csv", "a CSV row a call"},
    {ExportFormat::speedscope, "speedscope", ".speedscope.json", "profile for speedscope"},
    {ExportFormat::pprof, "pprof", ".pb.gz .pprof", "profile for pprof"},
    {ExportFormat::folded, "folded", ".folded", "stacks with their self time, a line each"},
    {ExportFormat::callgrind, "callgrind", "callgrind.out .callgrind", "profile for KCachegrind"},
    {ExportFormat::dot, "dot", ".dot .gv", "call graph for Graphviz"},
    {ExportFormat::lcov, "lcov", ".info .lcov", "of feedback reports: coverage for genhtml"},
    {ExportFormat::fdr1, "fdr1", "", "XRay flight data recorder, version 1"},
    {ExportFormat::fdr2, "fdr2", "", "version 2"},
    {ExportFormat::fdr3, "fdr3", "", "version 3"},
    {ExportFormat::fdr4, "fdr4", "", "version 4"},
    {ExportFormat::fdr5, "fdr5", ".fdr", "version 5"},
    {ExportFormat::basic1, "basic1", "", "XRay basic mode, version 1"},
    {ExportFormat::basic2, "basic2", "", "version 2"},
    {ExportFormat::basic3, "basic3", "", "version 3"},
    {ExportFormat::llvm_xray_yaml, "llvm-xray-yaml", ".yaml .yml",
     "what llvm-xray convert -f yaml writes"},
    {ExportFormat::mono1, "mono1", "", "Mono log profiler, data version 1"},
    {ExportFormat::mono17, "mono17", ".mlpd", "data version 17"},
    {ExportFormat::stacktrack, "stacktrack", ".tlg",
     "StackTrack, laid out as --output-description says"},
    {ExportFormat::stacktrack_classic, "stacktrack-classic", "", "its layout of 2005"},
    {ExportFormat::stacktrack_wide, "stacktrack-wide", "", "telltale's layout"},
    {ExportFormat::sampler, "sampler", ".report", "one feedback report of all that were given"},
});

template <typename Use>
void for_each_extension(std::string_view extensions, Use use) {
  while (!extensions.empty()) {
    const size_t blank = extensions.find(' ');
    use(extensions.substr(0, blank));
    extensions =
        blank == std::string_view::npos ? std::string_view() : extensions.substr(blank + 1);
  }
}

}  // namespace

std::optional<ExportFormat> export_format_of_name(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &Description::name);
  if (found == kFormats.end()) return std::nullopt;
  return found->format;
}

std::optional<ExportFormat> export_format_of_path(std::string_view path) {
  const std::string_view file_name = path.substr(path.rfind('/') + 1);
  std::optional<ExportFormat> best;
  size_t best_length = 0;
  for (const Description& format : kFormats) {
    for_each_extension(format.extensions, [&](std::string_view extension) {
      const bool fits = extension.starts_with('.') ? file_name.ends_with(extension)
                                                   : file_name.starts_with(extension);
      if (fits && extension.size() > best_length) {
        best = format.format;
        best_length = extension.size();
      }
    });
  }
  return best;
}

bool is_counts_format(ExportFormat format) { return format == ExportFormat::lcov; }
bool is_recording_format(ExportFormat format) { return format >= ExportFormat::fdr1; }
std::string_view export_format_name(ExportFormat format) {
  return std::ranges::find(kFormats, format, &Description::format)->name;
}

std::vector<std::string> export_format_names() {
  std::vector<std::string> names;
  for (const Description& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string describe_export_formats() {
  std::string text = "Formats:\n";
  for (const Description& format : kFormats) {
    text += fmt::format("  {:16} {:28} {}\n", format.name, format.extensions, format.text);
  }
  return text;
}

}  // namespace telltale
