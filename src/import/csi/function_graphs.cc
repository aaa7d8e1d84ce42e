#include "import/csi/function_graphs.h"

#include <utility>

#include "formats/csi/path_metadata.h"
#include "formats/csi/wire.h"
#include "program/demangle.h"
#include "program/static_sections.h"

namespace telltale {

std::vector<FunctionGraph> read_function_graphs(Bytes text, const std::string& file,
                                                uint64_t file_offset, ProblemLog& problems) {
  std::vector<FunctionGraph> graphs;
  const csi::PathMetadata metadata = csi::PathMetadata::read(text, file, file_offset, problems);
  for (const csi::PathFunction& function : metadata.functions()) {
    graphs.push_back({.name = demangle(function.name),
                      .linkage_name = std::string(function.name),
                      .blocks = function.block_count,
                      .edges = function.edge_count});
  }
  return graphs;
}

Result<std::vector<FunctionGraph>> read_function_graphs_of_program(Bytes file,
                                                                   const std::string& path,
                                                                   ProblemLog& problems) {
  std::vector<FunctionGraph> graphs;
  const Result<StaticSections> found =
      read_static_sections(file, path, csi::kPathSection, problems);
  if (!found) return std::unexpected(found.error());
  for (const StaticSection& section : found->sections) {
    for (FunctionGraph& graph : read_function_graphs(section.bytes, path, section.offset, problems))
      graphs.push_back(std::move(graph));
  }
  return graphs;
}

}  // namespace telltale
