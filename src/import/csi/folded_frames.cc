#include "import/csi/folded_frames.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {
namespace {

bool is_named(const FlowFunction& function, const FramePaths& frame) {
  const bool has_name = function.symbol == frame.symbol || function.symbol == frame.linkage_name ||
                        function.source == frame.linkage_name;
  return has_name && function.file.ends_with(frame.file);
}

}  // namespace

void add_folded_functions(const ProgramMetadata& metadata, std::vector<FramePaths>& frames) {
  const std::vector<FlowFunction>& functions = metadata.functions.functions();
  for (FramePaths& frame : frames) {
    if (frame.inlined) continue;
    std::vector<uint32_t> named = metadata.functions.find(frame.module, frame.symbol);
    if (named.empty()) named = metadata.functions.find(frame.module, frame.linkage_name);
    std::set<uint32_t> all;
    for (const uint32_t f : named) {
      const std::set<uint32_t>& folded = functions[f].folded_with;
      if (folded.empty()) continue;
      all.insert(f);
      all.insert(folded.begin(), folded.end());
    }
    for (const uint32_t f : all) {
      const FlowFunction& function = functions[f];
      if (is_named(function, frame)) continue;
      FramePaths::Function other{.name = metadata.name_of(function.source),
                                 .linkage_name = function.source,
                                 .file = function.file,
                                 .line = function.line};
      if (std::ranges::find(frame.same_address, other) == frame.same_address.end())
        frame.same_address.push_back(std::move(other));
    }
    sort_rows(frame.same_address, {}, [](const FramePaths::Function& function) {
      return std::tie(function.name, function.file);
    });
  }
}

}  // namespace telltale
