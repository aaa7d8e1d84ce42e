#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/input_file.h"
#include "formats/xray/record_selector.h"
#include "import/convert_target.h"
#include "import/format_descriptor.h"
#include "model/record_filter.h"
#include "output/dump/dump_output.h"

namespace telltale {

// Work on single records that is common to XRay's binary traces and llvm-xray's text.

inline constexpr std::string_view kXrayYamlTarget = "llvm-xray-yaml";
inline constexpr auto kXrayTargets = std::to_array<ConvertTarget>({
    {{"fdr1", "", "XRay flight data recorder, version 1"}},
    {{"fdr2", "", "version 2"}},
    {{"fdr3", "", "version 3"}},
    {{"fdr4", "", "version 4"}},
    {{"fdr5", ".fdr", "version 5"}},
    {{"basic1", "", "XRay basic mode, version 1"}},
    {{"basic2", "", "version 2"}},
    {{"basic3", "", "version 3"}},
    {{kXrayYamlTarget, ".yaml .yml", "what llvm-xray convert -f yaml writes"}},
});

// Selects the records of a file, for readers that go through it in its order; null if all are
// selected.
std::unique_ptr<xray::RecordSelector> xray_selector(const InputFile& file, RecordFilter* chosen);

// As FormatDescriptor::dump.
Result<void> dump_xray(const InputFile& file, DumpStyle style, const ByteSink& sink,
                       ProblemLog& problems, RecordFilter* chosen);

// As FormatDescriptor::convert, of a format whose open() opens the file. llvm-xray's text names
// functions if there are programs to take the names from. REQUIRES: one of kXrayTargets.
Result<RecordLosses> convert_xray(const FormatDescriptor& format, const InputFile& file,
                                  const OpenOptions& options, std::string_view target,
                                  const ByteSink& sink, ProblemLog& problems);

}  // namespace telltale
