#include "output/export_format.h"

#include <algorithm>
#include <array>

namespace telltale {
namespace {

enum class MadeFrom : uint8_t { calls, counts, either };

struct Description {
  ExportFormat format;
  OutputName name;
  MadeFrom made_from = MadeFrom::calls;
};

constexpr auto kExports = std::to_array<Description>({
    {ExportFormat::perfetto,
     {"perfetto", ".perfetto-trace .pftrace", "timeline for ui.perfetto.dev"}},
    {ExportFormat::chrome, {"chrome", ".json", "timeline, trace_event JSON"}},
    {ExportFormat::json,
     {"json", ".calls.json", "one JSON object per call or event"},
     MadeFrom::either},
    {ExportFormat::csv, {"csv", ".csv", "one CSV row per call"}, MadeFrom::either},
    {ExportFormat::speedscope, {"speedscope", ".speedscope.json", "profile for speedscope"}},
    {ExportFormat::pprof, {"pprof", ".pb.gz .pprof", "profile for pprof"}},
    {ExportFormat::folded, {"folded", ".folded", "stacks with their self time, one per line"}},
    {ExportFormat::callgrind, {"callgrind", "callgrind.out .callgrind", "profile for KCachegrind"}},
    {ExportFormat::dot, {"dot", ".dot .gv", "call graph for Graphviz"}},
    {ExportFormat::lcov,
     {"lcov", ".info .lcov", "coverage for genhtml (feedback reports)"},
     MadeFrom::counts},
});

const Description& describe(ExportFormat format) {
  return *std::ranges::find(kExports, format, &Description::format);
}

}  // namespace

OutputName output_name(ExportFormat format) { return describe(format).name; }

std::span<const ExportFormat> all_export_formats() {
  static constexpr auto kAll = [] {
    std::array<ExportFormat, kExports.size()> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = kExports[i].format;
    return all;
  }();
  return kAll;
}

std::optional<ExportFormat> export_format_of_name(std::string_view name) {
  const auto found =
      std::ranges::find(kExports, name, [](const Description& one) { return one.name.name; });
  if (found == kExports.end()) return std::nullopt;
  return found->format;
}

size_t fitting_extension(std::string_view extensions, std::string_view path) {
  const std::string_view file_name = path.substr(path.rfind('/') + 1);
  size_t longest = 0;
  while (!extensions.empty()) {
    const std::string_view one = extensions.substr(0, extensions.find(' '));
    const bool fits = one.starts_with('.') ? file_name.ends_with(one) : file_name.starts_with(one);
    if (fits) longest = std::max(longest, one.size());
    extensions.remove_prefix(std::min(extensions.size(), one.size() + 1));
  }
  return longest;
}

NameStyle usual_names(ExportFormat format) {
  switch (format) {
    case ExportFormat::pprof:
    case ExportFormat::folded:
    case ExportFormat::callgrind:
    case ExportFormat::lcov:
      return NameStyle::full;
    default:
      return NameStyle::short_names;
  }
}

bool is_made_from_calls(ExportFormat format) {
  return describe(format).made_from != MadeFrom::counts;
}

bool is_made_from_counts(ExportFormat format) {
  return describe(format).made_from != MadeFrom::calls;
}

}  // namespace telltale
