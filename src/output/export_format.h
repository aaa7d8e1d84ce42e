#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// What `convert` can write.
enum class ExportFormat : uint8_t {
  perfetto,
  chrome,
  json,
  csv,
  speedscope,
  pprof,
  folded,
  callgrind,
  dot,
  lcov,
  fdr1,
  fdr2,
  fdr3,
  fdr4,
  fdr5,
  basic1,
  basic2,
  basic3,
  llvm_xray_yaml,
  mono1,
  mono17,
  stacktrack,
  stacktrack_classic,
  stacktrack_wide,
  sampler,
};

// Written from counts of lines, functions and branches: of feedback reports.
bool is_counts_format(ExportFormat format);
// The formats that recordings themselves have: written from records, not from calls.
bool is_recording_format(ExportFormat format);

std::optional<ExportFormat> export_format_of_name(std::string_view name);
// By the file's extension, or "callgrind.out" at the start of its name.
std::optional<ExportFormat> export_format_of_path(std::string_view path);
std::vector<std::string> export_format_names();
std::string_view export_format_name(ExportFormat format);
// A line a format: name, extensions, what it is. For help texts.
std::string describe_export_formats();

}  // namespace telltale
